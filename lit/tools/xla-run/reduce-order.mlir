// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and differences side by side: the initial values count once and the differences are taken in order, however few columns there are.
// RUN: xla-run %s --cache-dir=off | FileCheck %s
// RUN: xla-run %s --cache-dir=off --backend=interpreter | FileCheck %s

// CHECK: 2.500000e+01, 3.300000e+01
// CHECK: -23, -31
// CHECK: 2.400000e+01, 3.200000e+01
func.func @main() -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>) {
  %x = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.0, 9.0]]> : tensor<2x8xf32>
  %a, %i = stablehlo.optimization_barrier %x, %x : tensor<2x8xf32>, tensor<2x8xf32>
  %n = stablehlo.convert %i : (tensor<2x8xf32>) -> tensor<2x8xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%a init: %one), (%n init: %two) across dimensions = [1] : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {
      %3 = stablehlo.add %p, %q : tensor<f32>
      %4 = stablehlo.subtract %r, %s : tensor<i32>
      stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
    }
  %1:2 = stablehlo.reduce(%a init: %zero), (%n init: %two) across dimensions = [1] : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {
      %3 = stablehlo.maximum %p, %q : tensor<f32>
      %4 = stablehlo.add %r, %s : tensor<i32>
      %5 = stablehlo.multiply %3, %q : tensor<f32>
      %6 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %6, %4 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1, %1#0 : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution's weights get their order before the loop, not in every iteration (lowering/Pipeline.cpp hoists after layouts are assigned).
// RUN: xla-opt %s -xla-assign-layouts -xla-hoist-loop-invariants | FileCheck %s

// CHECK-LABEL: @loop
// CHECK: stablehlo.transpose %arg1
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.transpose %arg1
// CHECK: stablehlo.convolution
func.func @loop(%x: tensor<2x32x40x40xf32>, %k: tensor<32x32x3x3xf32>, %n: tensor<i32>) -> tensor<2x32x40x40xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<2x32x40x40xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %c = stablehlo.convolution(%h, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x40x40xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x40x40xf32>
      %t = stablehlo.tanh %c : tensor<2x32x40x40xf32>
      stablehlo.return %j, %t : tensor<i32>, tensor<2x32x40x40xf32>
    }
  return %0#1 : tensor<2x32x40x40xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over a matrix of which all but the diagonal is zero read the diagonal.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,diagonals -split-input-file | FileCheck %s

// CHECK-LABEL: @trace
// CHECK: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<100x100xf32>) -> tensor<10000xf32>
// CHECK: %[[DIAGONAL:.*]] = stablehlo.slice %[[FLAT]] [0:10000:101] : (tensor<10000xf32>) -> tensor<100xf32>
// CHECK: stablehlo.reduce(%[[DIAGONAL]] {{.*}} dimensions = [0]
func.func @trace(%x: tensor<100x100xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<100x100xf32>
  %i = stablehlo.iota dim = 0 : tensor<100x100xi32>
  %j = stablehlo.iota dim = 1 : tensor<100x100xi32>
  %p = stablehlo.compare EQ, %i, %j : (tensor<100x100xi32>, tensor<100x100xi32>) -> tensor<100x100xi1>
  %s = stablehlo.select %p, %x, %zeros : tensor<100x100xi1>, tensor<100x100xf32>
  %0 = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The diagonals of a batch; -0.0 becomes 0.0, as in the sum.
// CHECK-LABEL: @batch
// CHECK: stablehlo.slice %{{.*}} [0:7, 0:36:7] : (tensor<7x36xf32>) -> tensor<7x6xf32>
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<7x6xf32>
func.func @batch(%x: tensor<7x6x6xf32>) -> tensor<7x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<7x6x6xf32>
  %i = stablehlo.iota dim = 1 : tensor<6x6xui32>
  %j = stablehlo.iota dim = 0 : tensor<6x6xui32>
  %q = stablehlo.compare EQ, %i, %j : (tensor<6x6xui32>, tensor<6x6xui32>) -> tensor<6x6xi1>
  %p = stablehlo.broadcast_in_dim %q, dims = [1, 2] : (tensor<6x6xi1>) -> tensor<7x6x6xi1>
  %s = stablehlo.select %p, %x, %zeros : tensor<7x6x6xi1>, tensor<7x6x6xf32>
  %0 = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<7x6x6xf32>, tensor<f32>) -> tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}

// -----

// Left alone: no square, other numbers than zero around the diagonal, a triangle, a chain that is computed for the sum alone.
// CHECK-LABEL: @kept
// CHECK-NOT: stablehlo.slice
// CHECK: return
func.func @kept(%x: tensor<6x7xf32>, %y: tensor<6x6xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.constant dense<0.0> : tensor<6x7xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<6x6xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6x7xi32>
  %j = stablehlo.iota dim = 1 : tensor<6x7xi32>
  %k = stablehlo.iota dim = 0 : tensor<6x6xi32>
  %l = stablehlo.iota dim = 1 : tensor<6x6xi32>
  %p = stablehlo.compare EQ, %i, %j : (tensor<6x7xi32>, tensor<6x7xi32>) -> tensor<6x7xi1>
  %q = stablehlo.compare EQ, %k, %l : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %r = stablehlo.compare GE, %k, %l : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %e = stablehlo.exponential %y : tensor<6x6xf32>
  %a = stablehlo.select %p, %x, %wide : tensor<6x7xi1>, tensor<6x7xf32>
  %b = stablehlo.select %q, %y, %ones : tensor<6x6xi1>, tensor<6x6xf32>
  %c = stablehlo.select %r, %y, %zeros : tensor<6x6xi1>, tensor<6x6xf32>
  %d = stablehlo.select %q, %e, %zeros : tensor<6x6xi1>, tensor<6x6xf32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x7xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// A sum in another type than the matrix's.
// CHECK-LABEL: @wider
// CHECK: stablehlo.reduce{{.*}}tensor<4xf32>
func.func @wider(%x: tensor<4x4xbf16>) -> tensor<4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
  %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
  %p = stablehlo.compare EQ, %i, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x4xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %s = stablehlo.select %p, %x, %zeros : tensor<4x4xi1>, tensor<4x4xbf16>
  %0 = stablehlo.reduce(%s init: %zero) across dimensions = [1] : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  return %0 : tensor<4xf32>
}

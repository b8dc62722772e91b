// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-fuse-kernels -split-input-file | FileCheck %s

// Everything about a few numbers is one kernel, also what no other kernel would hold.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-1: call @
// CHECK-NOT: call @
// CHECK: return
func.func @few(%x: tensor<9xf32>) -> tensor<9xf32> {
  %c = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %0 = stablehlo.slice %x [0:8] : (tensor<9xf32>) -> tensor<8xf32>
  %1 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<1xf32>, tensor<8xf32>) -> tensor<9xf32>
  %2 = stablehlo.exponential %1 : tensor<9xf32>
  %3 = stablehlo.add %2, %x : tensor<9xf32>
  return %3 : tensor<9xf32>
}

// -----

// Functions of dozens of operations want vectors: they leave what has none.
// CHECK-LABEL: func.func @functions_of_more
// CHECK: call @concatenate
// CHECK: call @add
// CHECK: return
// CHECK: func.func private @add
// CHECK-NOT: stablehlo.concatenate
// CHECK: stablehlo.exponential
func.func @functions_of_more(%x: tensor<41xf32>) -> tensor<41xf32> {
  %c = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %0 = stablehlo.slice %x [0:40] : (tensor<41xf32>) -> tensor<40xf32>
  %1 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>
  %2 = stablehlo.exponential %1 : tensor<41xf32>
  %3 = stablehlo.add %2, %x : tensor<41xf32>
  return %3 : tensor<41xf32>
}

// -----

// Additions do not.
// CHECK-LABEL: func.func @sums_of_more
// CHECK-COUNT-1: call @
// CHECK-NOT: call @
// CHECK: return
func.func @sums_of_more(%x: tensor<41xf32>) -> tensor<41xf32> {
  %c = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %0 = stablehlo.slice %x [0:40] : (tensor<41xf32>) -> tensor<40xf32>
  %1 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>
  %3 = stablehlo.add %1, %x : tensor<41xf32>
  return %3 : tensor<41xf32>
}

// -----

// Sums of more than a few elements along different dimensions have kernels of their own: rows of one are no rows of the other.
// CHECK-LABEL: func.func @two_directions
// CHECK: %[[D:.*]] = call @reduce_{{.*}}(%arg0) : (tensor<8x8x3xf32>) -> tensor<8x8xf32>
// CHECK: call @{{.*}}%[[D]]{{.*}} -> tensor<8x3xf32>
// CHECK-NEXT: return
func.func @two_directions(%x: tensor<8x8x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x8x3xf32>, tensor<f32>) -> tensor<8x8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x3xf32>
  %2 = stablehlo.divide %x, %1 : tensor<8x8x3xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
  return %3 : tensor<8x3xf32>
}

// -----

// Of few elements: one kernel.
// CHECK-LABEL: func.func @few
// CHECK-NEXT: %[[R:.*]] = call
// CHECK-NEXT: return %[[R]]
func.func @few(%x: tensor<4x4x3xf32>) -> tensor<4x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x4x3xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4x3xf32>
  %2 = stablehlo.divide %x, %1 : tensor<4x4x3xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}

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

// -----

// Functions of what many rows give are vectors in a kernel of their own, behind sums and behind products with a vector.
// CHECK-LABEL: func.func @functions_of_rows
// CHECK: call @reduce
// CHECK: call @log
// CHECK: call @dot_general
// CHECK: call @tanh
// CHECK: return
func.func @functions_of_rows(%x: tensor<600x10xf32>, %v: tensor<10xf32>) -> (tensor<600xf32>, tensor<600xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<600x10xf32>, tensor<f32>) -> tensor<600xf32>
  %1 = stablehlo.log %0 : tensor<600xf32>
  %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<600x10xf32>, tensor<10xf32>) -> tensor<600xf32>
  %3 = stablehlo.tanh %2 : tensor<600xf32>
  return %1, %3 : tensor<600xf32>, tensor<600xf32>
}

// -----

// Those of few rows, and those that the rows need again, stay with them.
// CHECK-LABEL: func.func @rows_with_functions
// CHECK-COUNT-2: call @
// CHECK-NOT: call @
// CHECK: return
func.func @rows_with_functions(%x: tensor<400x10xf32>, %y: tensor<600x10xf32>) -> (tensor<400xf32>, tensor<600x10xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<400x10xf32>, tensor<f32>) -> tensor<400xf32>
  %1 = stablehlo.log %0 : tensor<400xf32>
  %2 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<600x10xf32>, tensor<f32>) -> tensor<600xf32>
  %3 = stablehlo.log %2 : tensor<600xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<600xf32>) -> tensor<600x10xf32>
  %5 = stablehlo.subtract %y, %4 : tensor<600x10xf32>
  return %1, %5 : tensor<400xf32>, tensor<600x10xf32>
}

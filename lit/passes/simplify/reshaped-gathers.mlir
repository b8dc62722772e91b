// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a gather's slices have of size one is dropped by the gather itself: the chosen elements then are what their kernel computes with.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,unit-dimensions | FileCheck %s

// CHECK-LABEL: @elements
// CHECK-NEXT: %[[G:.*]] = "stablehlo.gather"(%arg0, %arg1)
// CHECK-SAME: #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
// CHECK-SAME: -> tensor<1000xf32>
// CHECK-NEXT: return %[[G]]
func.func @elements(%table: tensor<50xf32>, %i: tensor<1000x1xui32>) -> tensor<1000xf32> {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<50xf32>, tensor<1000x1xui32>) -> tensor<1000x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1000x1xf32>) -> tensor<1000xf32>
  return %1 : tensor<1000xf32>
}

// Offsets before, between and behind; the one that stays keeps its place among the others.
// CHECK-LABEL: @rows
// CHECK: #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0, 2], start_index_map = [0, 1, 2], index_vector_dim = 1>
// CHECK-SAME: slice_sizes = array<i64: 1, 3, 1>
// CHECK-SAME: -> tensor<3x20xf32>
// CHECK-NOT: reshape
func.func @rows(%table: tensor<5x6x7xf32>, %i: tensor<20x3xi32>) -> tensor<3x20xf32> {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], start_index_map = [0, 1, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 1>}> : (tensor<5x6x7xf32>, tensor<20x3xi32>) -> tensor<1x3x20x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x3x20x1xf32>) -> tensor<3x20xf32>
  return %1 : tensor<3x20xf32>
}

// A position of which there is one is no part of a slice; a gather with other readers stays as it is.
// CHECK-LABEL: @others
// CHECK-COUNT-2: stablehlo.reshape
func.func @others(%table: tensor<50x4xf32>, %i: tensor<1x1xi32>, %j: tensor<9x1xi32>) -> (tensor<4xf32>, tensor<9x1x4xf32>, tensor<9x4xf32>) {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<50x4xf32>, tensor<1x1xi32>) -> tensor<1x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.gather"(%table, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<50x4xf32>, tensor<9x1xi32>) -> tensor<9x1x4xf32>
  %3 = stablehlo.reshape %2 : (tensor<9x1x4xf32>) -> tensor<9x4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<9x1x4xf32>, tensor<9x4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of indexing ops, gather and scatter with batching dimensions, cheap folds.
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s -mlir-print-op-generic | xla-opt | FileCheck %s
// RUN: xla-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @text
func.func @text(%a: tensor<4x3xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [1, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %1 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: @batching
// CHECK: #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>
// CHECK: #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>
func.func @batching(%o: tensor<2x3x4x2xi64>, %i: tensor<2x2x3x2xi64>, %u: tensor<2x2x3x2x2xi64>) -> (tensor<2x2x3x2x2xi64>, tensor<2x3x4x2xi64>) {
  %0 = "stablehlo.gather"(%o, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>,
    slice_sizes = array<i64: 1, 1, 2, 2>
  } : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi64>
  %1 = "stablehlo.scatter"(%o, %i, %u) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %2 = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %2 : tensor<i64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1],
      index_vector_dim = 3>} : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>
  return %0, %1 : tensor<2x2x3x2x2xi64>, tensor<2x3x4x2xi64>
}

// A start that lies outside is moved in.
// FOLD-LABEL: @constant_start
// FOLD: stablehlo.slice %{{.*}} [3:4, 0:2]
func.func @constant_start(%a: tensor<4x3xf32>) -> tensor<1x2xf32> {
  %i = stablehlo.constant dense<9> : tensor<i32>
  %j = stablehlo.constant dense<-2> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// The sign bit of an unsigned index is no sign.
// FOLD-LABEL: @unsigned_start
// FOLD: stablehlo.slice %{{.*}} [3:4]
func.func @unsigned_start(%a: tensor<4xf32>) -> tensor<1xf32> {
  %i = stablehlo.constant dense<255> : tensor<ui8>
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<4xf32>, tensor<ui8>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// FOLD-LABEL: @whole
// FOLD-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
// FOLD-NEXT: return %[[A]], %[[B]]
func.func @whole(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [4] : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

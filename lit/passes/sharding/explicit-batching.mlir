// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same values, before and after; and which of them changed.
// RUN: xla-opt %s -sdy-explicit-gather-scatter-batching | FileCheck %s
// RUN: xla-translate --interpret %s
// RUN: xla-opt %s -sdy-explicit-gather-scatter-batching | xla-translate --interpret

// Row i of the operand for row i of the indices, whichever index counts.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<4x8xi32>, %at: tensor<4x1xi32>) -> tensor<4x1xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.reshape %0 : (tensor<4xi32>) -> tensor<4x1xi32>
  %2 = stablehlo.concatenate %at, %1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>
  %3 = "stablehlo.gather"(%x, %2) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<4x8xi32>, tensor<4x2xi32>) -> tensor<4x1xi32>
  return %3 : tensor<4x1xi32>
}

// CHECK-LABEL: func.func @updates
func.func @updates(%x: tensor<4x8xi32>, %at: tensor<4x1xi32>, %u: tensor<4xi32>) -> tensor<4x8xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %at, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2)
  // CHECK-SAME: inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1]
  %2 = "stablehlo.scatter"(%x, %1, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<4x8xi32>, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x8xi32>
  return %2 : tensor<4x8xi32>
}

// As PyTorch and JAX write it: a start and a step, negative numbers from the end, the other width.
// CHECK-LABEL: func.func @counted
func.func @counted(%x: tensor<4x8xi32>, %at: tensor<4x1xi64>) -> tensor<4x1xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %ones = stablehlo.constant dense<1> : tensor<4xi32>
  %fours = stablehlo.constant dense<4> : tensor<4xi32>
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.multiply %0, %ones : tensor<4xi32>
  %2 = stablehlo.add %zeros, %1 : tensor<4xi32>
  %3 = stablehlo.compare LT, %2, %zeros : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %4 = stablehlo.add %2, %fours : tensor<4xi32>
  %5 = stablehlo.select %3, %4, %2 : tensor<4xi1>, tensor<4xi32>
  %6 = stablehlo.convert %5 : (tensor<4xi32>) -> tensor<4xi64>
  %7 = stablehlo.reshape %6 : (tensor<4xi64>) -> tensor<4x1xi64>
  %8 = stablehlo.concatenate %7, %at, dim = 1 : (tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x2xi64>
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0]
  // CHECK-NOT: operand_batching_dims
  // CHECK: return
  %9 = "stablehlo.gather"(%x, %8) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<4x8xi32>, tensor<4x2xi64>) -> tensor<4x1xi32>
  // Twice as far: not its own row.
  %10 = stablehlo.add %2, %2 : tensor<4xi32>
  %11 = stablehlo.convert %10 : (tensor<4xi32>) -> tensor<4xi64>
  %12 = stablehlo.reshape %11 : (tensor<4xi64>) -> tensor<4x1xi64>
  %13 = stablehlo.concatenate %12, %at, dim = 1 : (tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x2xi64>
  %14 = "stablehlo.gather"(%x, %13) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<4x8xi32>, tensor<4x2xi64>) -> tensor<4x1xi32>
  %15 = stablehlo.add %9, %14 : tensor<4x1xi32>
  return %15 : tensor<4x1xi32>
}

// A shorter batch, a slice that keeps the dimension, no other index: as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: batching_dims
// CHECK-LABEL: func.func @more
func.func @others(%x: tensor<4x8xi32>, %at: tensor<3x1xi32>) -> (tensor<3x1xi32>, tensor<4x8xi32>) {
  %0 = stablehlo.iota dim = 0 : tensor<3x1xi32>
  %1 = stablehlo.concatenate %0, %at, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %2 = "stablehlo.gather"(%x, %1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<4x8xi32>, tensor<3x2xi32>) -> tensor<3x1xi32>
  %3 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %4 = "stablehlo.gather"(%x, %3) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<4x8xi32>, tensor<4x1xi32>) -> tensor<4x8xi32>
  return %2, %4 : tensor<3x1xi32>, tensor<4x8xi32>
}

// One more batching dimension; constants count, too. Integers of eight bits do not count to 300.
// CHECK: "stablehlo.gather"(%arg0, %arg1) {{.*}}operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2]
// CHECK: "stablehlo.gather"(%arg2, %{{[0-9]+}}) {{.*}}collapsed_slice_dims = [0, 1], start_index_map = [0, 1]
// CHECK-LABEL: func.func @main
func.func @more(%x: tensor<2x3x8xi32>, %at: tensor<2x3x1xi32>, %y: tensor<300x8xi32>, %short: tensor<300x1xi8>) -> (tensor<2x3xi32>, tensor<300xi32>) {
  %0 = stablehlo.constant dense<[[[0], [1], [2]], [[0], [1], [2]]]> : tensor<2x3x1xi32>
  %1 = stablehlo.concatenate %0, %at, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x2xi32>
  %2 = "stablehlo.gather"(%x, %1) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>} : (tensor<2x3x8xi32>, tensor<2x3x2xi32>) -> tensor<2x3xi32>
  %3 = stablehlo.iota dim = 0 : tensor<300x1xi8>
  %4 = stablehlo.concatenate %3, %short, dim = 1 : (tensor<300x1xi8>, tensor<300x1xi8>) -> tensor<300x2xi8>
  %5 = "stablehlo.gather"(%y, %4) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<300x8xi32>, tensor<300x2xi8>) -> tensor<300xi32>
  return %2, %5 : tensor<2x3xi32>, tensor<300xi32>
}

func.func @main() {
  %0 = stablehlo.iota dim = 0 : tensor<32xi32>
  %x = stablehlo.reshape %0 : (tensor<32xi32>) -> tensor<4x8xi32>
  %at = stablehlo.constant dense<[[2], [5], [-1], [9]]> : tensor<4x1xi32>
  %u = stablehlo.constant dense<[-1, -2, -3, -4]> : tensor<4xi32>
  %rows = call @rows(%x, %at) : (tensor<4x8xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  check.expect_eq_const %rows, dense<[[2], [13], [16], [31]]> : tensor<4x1xi32>
  %far = stablehlo.convert %at : (tensor<4x1xi32>) -> tensor<4x1xi64>
  %counted = call @counted(%x, %far) : (tensor<4x8xi32>, tensor<4x1xi64>) -> tensor<4x1xi32>
  check.expect_eq_const %counted, dense<[[4], [34], [40], [62]]> : tensor<4x1xi32>
  %zeros = stablehlo.constant dense<0> : tensor<4x8xi32>
  %updated = call @updates(%zeros, %at, %u) : (tensor<4x8xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<4x8xi32>
  check.expect_eq_const %updated, dense<[[0, 0, -1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, -2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x8xi32>
  return
}

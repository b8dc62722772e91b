// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every deprecated operation becomes its successor; what has none is an error unless the caller allows it.
// RUN: xla-opt %s -stablehlo-legalize-deprecated-ops=fail-on-unused=false -split-input-file | FileCheck %s

// CHECK-LABEL: @broadcast
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<3xi32>) -> tensor<1x2x3xi32>
func.func @broadcast(%x: tensor<3xi32>) -> tensor<1x2x3xi32> {
  %0 = stablehlo.broadcast %x, sizes = [1, 2] : (tensor<3xi32>) -> tensor<1x2x3xi32>
  return %0 : tensor<1x2x3xi32>
}

// CHECK-LABEL: @create_token
// CHECK: stablehlo.after_all
func.func @create_token() -> !stablehlo.token {
  %0 = stablehlo.create_token : !stablehlo.token
  return %0 : !stablehlo.token
}

// CHECK-LABEL: @cross_replica_sum
// CHECK: "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<{{\[\[}}0, 1]]>
// CHECK: stablehlo.add
func.func @cross_replica_sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @dot_matrix_vector
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
func.func @dot_matrix_vector(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Batch letters, a contracted letter, a letter that only the left operand has, and another order of the result.
// CHECK-LABEL: @einsum
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%arg0 init: {{.*}}) applies stablehlo.add across dimensions = [3]
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %[[SUM]], %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK: stablehlo.transpose %[[DOT]], dims = [2, 0, 1]
func.func @einsum(%a: tensor<2x3x4x7xf32>, %b: tensor<2x4x5xf32>) -> tensor<5x2x3xf32> {
  %0 = stablehlo.einsum %a, %b, config = "bikx,bkj->jbi" : (tensor<2x3x4x7xf32>, tensor<2x4x5xf32>) -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}

// CHECK-LABEL: @unary_einsum
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%arg0 init: {{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: stablehlo.transpose %[[SUM]], dims = [1, 0]
func.func @unary_einsum(%a: tensor<2x3x4xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.unary_einsum %a, config = "abc->ca" : (tensor<2x3x4xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: @torch_index_select
// CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 4], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 128, 1, 64>}>
func.func @torch_index_select(%x: tensor<8x128x3072x64xf32>, %i: tensor<8x16x1024xi32>) -> tensor<8x128x16x1024x64xf32> {
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 2 : i64, batch_dims = 1 : i64} : (tensor<8x128x3072x64xf32>, tensor<8x16x1024xi32>) -> tensor<8x128x16x1024x64xf32>
  return %0 : tensor<8x128x16x1024x64xf32>
}

// A diagonal (a letter twice in one operand) has no dot_general.
// CHECK-LABEL: @leaves_diagonal
// CHECK: stablehlo.einsum
func.func @leaves_diagonal(%a: tensor<3x3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.einsum %a, %b, config = "ii,i->i" : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

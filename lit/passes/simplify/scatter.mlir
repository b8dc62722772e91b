// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index that counts along a dimension of the positions is one of a batch.
// RUN: xla-opt %s -stablehlo-aggressive-simplification -split-input-file | FileCheck %s

// CHECK-LABEL: @along_rows
// CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2)
// CHECK-SAME: inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2
func.func @along_rows(%x: tensor<4x9xf32>, %i: tensor<4x3x1xi32>, %u: tensor<4x3xf32>) -> tensor<4x9xf32> {
  %row = stablehlo.iota dim = 0 : tensor<4x3x1xi32>
  %j = stablehlo.concatenate %row, %i, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %0 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x9xf32>, tensor<4x3x2xi32>, tensor<4x3xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

// Two of three; constants count, too. The dimensions of the operand are in order.
// CHECK-LABEL: @two
// CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2)
// CHECK-SAME: inserted_window_dims = [1], input_batching_dims = [0, 2], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2
func.func @two(%x: tensor<2x9x3xf32>, %i: tensor<3x2x1xi32>, %u: tensor<3x2xf32>) -> tensor<2x9x3xf32> {
  %c = stablehlo.constant dense<[[[0], [0]], [[1], [1]], [[2], [2]]]> : tensor<3x2x1xi32>
  %d = stablehlo.constant dense<[[[0], [1]], [[0], [1]], [[0], [1]]]> : tensor<3x2x1xi32>
  %j = stablehlo.concatenate %c, %i, %d, dim = 2 : (tensor<3x2x1xi32>, tensor<3x2x1xi32>, tensor<3x2x1xi32>) -> tensor<3x2x3xi32>
  %0 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [2, 1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x9x3xf32>, tensor<3x2x3xi32>, tensor<3x2xf32>) -> tensor<2x9x3xf32>
  return %0 : tensor<2x9x3xf32>
}

// -----

// Left alone: fewer positions than rows; constants that do not count; windows that begin at the index.
// CHECK-LABEL: @kept
// CHECK-NOT: input_batching_dims
// CHECK: return
func.func @kept(%x: tensor<5x9xf32>, %y: tensor<4x9xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>, %v: tensor<4x1xf32>) -> (tensor<5x9xf32>, tensor<4x9xf32>, tensor<4x9xf32>) {
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %c = stablehlo.constant dense<[[0], [1], [3], [2]]> : tensor<4x1xi32>
  %j = stablehlo.concatenate %row, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %k = stablehlo.concatenate %c, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x9xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<5x9xf32>
  %1 = "stablehlo.scatter"(%y, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x9xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<4x9xf32>
  %2 = "stablehlo.scatter"(%y, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x9xf32>, tensor<4x2xi32>, tensor<4x1xf32>) -> tensor<4x9xf32>
  return %0, %1, %2 : tensor<5x9xf32>, tensor<4x9xf32>, tensor<4x9xf32>
}

// -----

// No positions at all.
// CHECK-LABEL: @empty
// CHECK-NOT: input_batching_dims
// CHECK: return
func.func @empty(%x: tensor<0x5xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<0x5xf32> {
  %c = stablehlo.constant dense<> : tensor<0x1xi32>
  %j = stablehlo.concatenate %c, %i, dim = 1 : (tensor<0x1xi32>, tensor<0x1xi32>) -> tensor<0x2xi32>
  %0 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<0x5xf32>, tensor<0x2xi32>, tensor<0xf32>) -> tensor<0x5xf32>
  return %0 : tensor<0x5xf32>
}

// -----

// Numbers of 8 bits begin anew before row 128.
// CHECK-LABEL: @wraps
// CHECK-NOT: input_batching_dims
// CHECK: return
func.func @wraps(%x: tensor<129x5xf32>, %i: tensor<129x1xi8>, %u: tensor<129xf32>) -> tensor<129x5xf32> {
  %c = stablehlo.iota dim = 0 : tensor<129x1xi8>
  %j = stablehlo.concatenate %c, %i, dim = 1 : (tensor<129x1xi8>, tensor<129x1xi8>) -> tensor<129x2xi8>
  %0 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<129x5xf32>, tensor<129x2xi8>, tensor<129xf32>) -> tensor<129x5xf32>
  return %0 : tensor<129x5xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index that counts along a dimension of the positions is one of a batch; one window at a known place is a part of the operand.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,scatters -split-input-file | FileCheck %s

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

// -----

// One window at a known place is a part of the operand: combined with the update, and put back.
// CHECK-LABEL: @window
// CHECK: %[[OLD:.*]] = stablehlo.slice %arg0 [1:9, 2:12]
// CHECK: %[[NEW:.*]] = stablehlo.subtract %[[OLD]], %arg1
// CHECK: stablehlo.dynamic_update_slice %arg0, %[[NEW]], %{{.*}}, %{{.*}} :
func.func @window(%x: tensor<9x12xf32>, %u: tensor<8x10xf32>) -> tensor<9x12xf32> {
  %at = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<9x12xf32>, tensor<2xi32>, tensor<8x10xf32>) -> tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

// A row that is replaced, of however few elements.
// CHECK-LABEL: @row
// CHECK: %[[ROW:.*]] = stablehlo.reshape %arg1 : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK: stablehlo.dynamic_update_slice %arg0, %[[ROW]], %{{.*}}, %{{.*}} :
func.func @row(%x: tensor<9x3xf32>, %u: tensor<3xf32>) -> tensor<9x3xf32> {
  %at = stablehlo.constant dense<8> : tensor<1xi64>
  %0 = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<9x3xf32>, tensor<1xi64>, tensor<3xf32>) -> tensor<9x3xf32>
  return %0 : tensor<9x3xf32>
}

// -----

// Left alone: partly outside of the operand; before it, in few bits; few elements that are combined; two windows; several operations.
// CHECK-LABEL: @no_window
// CHECK-COUNT-5: "stablehlo.scatter"
func.func @no_window(%x: tensor<300x12xf32>, %u: tensor<8x10xf32>, %v: tensor<12xf32>, %w: tensor<2x12xf32>)
    -> (tensor<300x12xf32>, tensor<300x12xf32>, tensor<300x12xf32>, tensor<300x12xf32>, tensor<300x12xf32>) {
  %outside = stablehlo.constant dense<[0, 3]> : tensor<2xi32>
  %before = stablehlo.constant dense<-1> : tensor<1xi8>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = "stablehlo.scatter"(%x, %outside, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<300x12xf32>, tensor<2xi32>, tensor<8x10xf32>) -> tensor<300x12xf32>
  %1 = "stablehlo.scatter"(%x, %before, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<300x12xf32>, tensor<1xi8>, tensor<12xf32>) -> tensor<300x12xf32>
  %2 = "stablehlo.scatter"(%x, %one, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<300x12xf32>, tensor<1xi32>, tensor<12xf32>) -> tensor<300x12xf32>
  %3 = "stablehlo.scatter"(%x, %two, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<300x12xf32>, tensor<2x1xi32>, tensor<2x12xf32>) -> tensor<300x12xf32>
  %4 = "stablehlo.scatter"(%x, %zeros, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    %t = stablehlo.tanh %s : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<300x12xf32>, tensor<2xi32>, tensor<8x10xf32>) -> tensor<300x12xf32>
  return %0, %1, %2, %3, %4 : tensor<300x12xf32>, tensor<300x12xf32>, tensor<300x12xf32>, tensor<300x12xf32>, tensor<300x12xf32>
}

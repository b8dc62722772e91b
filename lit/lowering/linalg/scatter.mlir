// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// Scalar updates are guarded by one unsigned comparison per indexed dimension.
// CHECK-LABEL: @scalars
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[X]])
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: tensor.insert
func.func @scalars(%x: tensor<64xf32>, %i: tensor<9x1xi32>, %u: tensor<9xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// The least of floats has the update first: what the next update of the same element waits for is then shorter.
// CHECK-LABEL: @least
// CHECK-DAG: %[[OLD:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<64xf32>
// CHECK-DAG: %[[NEW:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<9xf32>
// CHECK: arith.minimumf %[[NEW]], %[[OLD]]
func.func @least(%x: tensor<64xf32>, %i: tensor<9x1xi32>, %u: tensor<9xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Windows are clipped by loop bounds; the innermost loop has no test.
// CHECK-LABEL: @windows
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: return
func.func @windows(%x: tensor<64xf32>, %i: tensor<9x1xi32>, %u: tensor<9x5xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64xf32>, tensor<9x1xi32>, tensor<9x5xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// A short row of the window is vectors, one element at the end.
// CHECK-LABEL: @short_rows
// CHECK: vector.transfer_read {{.*}} vector<4xf32>
// CHECK: arith.maximumf {{.*}} : vector<4xf32>
// CHECK: vector.transfer_write
// CHECK: arith.maximumf {{.*}} : vector<1xf32>
func.func @short_rows(%x: tensor<64x5xf32>, %i: tensor<9x1xi32>, %u: tensor<9x5xf32>) -> tensor<64x5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x5xf32>, tensor<9x1xi32>, tensor<9x5xf32>) -> tensor<64x5xf32>
  return %0 : tensor<64x5xf32>
}

// -----

// bf16 is added as f32 and rounded: no vector of it.
// CHECK-LABEL: @narrow_rows
// CHECK-NOT: vector.transfer_read
// CHECK: return
func.func @narrow_rows(%x: tensor<64x5xbf16>, %i: tensor<9x1xi32>, %u: tensor<9x5xbf16>) -> tensor<64x5xbf16> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<64x5xbf16>, tensor<9x1xi32>, tensor<9x5xbf16>) -> tensor<64x5xbf16>
  return %0 : tensor<64x5xbf16>
}

// -----

// A batch's positions write to its part only: threads share the batches.
// CHECK-LABEL: @batch
// CHECK: millrace.parallel_rows
func.func @batch(%x: tensor<8x64xf32>, %i: tensor<8x9x1xi32>, %u: tensor<8x9xf32>) -> tensor<8x64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x9x1xi32>, tensor<8x9xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

// Batches along another dimension of the operand are not rows of it.
// CHECK-LABEL: @batch_of_columns
// CHECK-NOT: millrace.parallel_rows
// CHECK: return
func.func @batch_of_columns(%x: tensor<64x8xf32>, %i: tensor<8x9x1xi32>, %u: tensor<8x9xf32>) -> tensor<64x8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<8x9x1xi32>, tensor<8x9xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

// Positions that are said to differ are threads' to share, if nothing else is to be done: the operand's memory is updated.
// CHECK-LABEL: @unique
// CHECK: millrace.parallel_parts
func.func @unique(%x: tensor<4096x64xf32>, %i: tensor<1024x1xi32>, %u: tensor<1024x64xf32>) -> tensor<4096x64xf32> attributes {millrace.kernel, millrace.in_place = [array<i64: 0, 0>]} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4096x64xf32>, tensor<1024x1xi32>, tensor<1024x64xf32>) -> tensor<4096x64xf32>
  return %0 : tensor<4096x64xf32>
}

// -----

// Most rows are the constant that they are filled with: each of eight parts has rows of its own.
// CHECK-LABEL: @filled_rows
// CHECK: %[[PARTS:.*]] = arith.constant 8 : index
// CHECK: scf.for %[[PART:.*]] = %{{.*}} to %[[PARTS]]
// CHECK: %[[SIZE:.*]] = arith.constant 512 : index
// CHECK: %[[FROM:.*]] = arith.muli %[[PART]], %[[SIZE]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to
// CHECK: arith.subi %{{.*}}, %[[FROM]]
// CHECK: arith.cmpi ult
// CHECK: millrace.parallel_parts
func.func @filled_rows(%i: tensor<256x1xi32>, %u: tensor<256x256xf32>) -> tensor<4096x256xf32> {
  %x = stablehlo.constant dense<0.0> : tensor<4096x256xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4096x256xf32>, tensor<256x1xi32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
  return %0 : tensor<4096x256xf32>
}

// -----

// Half of the rows change: parts are columns.
// CHECK-LABEL: @many_rows
// CHECK-NOT: arith.constant 512 : index
// CHECK: millrace.parallel_parts
func.func @many_rows(%i: tensor<2048x1xi32>, %u: tensor<2048x256xf32>) -> tensor<4096x256xf32> {
  %x = stablehlo.constant dense<0.0> : tensor<4096x256xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4096x256xf32>, tensor<2048x1xi32>, tensor<2048x256xf32>) -> tensor<4096x256xf32>
  return %0 : tensor<4096x256xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Much that is scattered to little is scattered to several copies of it, which threads share; their number depends on the shapes alone.
// RUN: xla-opt %s -xla-split-scatters -xla-fuse-kernels -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @histogram
// CHECK: %[[I:.*]] = stablehlo.reshape %arg0 : (tensor<100000x1xi32>) -> tensor<8x12500x1xi32>
// CHECK: %[[PARTS:.*]] = call @[[SCATTER:.*]](%[[I]]) : (tensor<8x12500x1xi32>) -> tensor<8x50xi32>
// CHECK: call @{{.*}}(%[[PARTS]]) : (tensor<8x50xi32>) -> tensor<50xi32>
// CHECK: func.func private @[[SCATTER]]
// CHECK: input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2
// CHECK: dense<7> : tensor<i32>
func.func @histogram(%i: tensor<100000x1xi32>) -> tensor<50xi32> {
  %x = stablehlo.constant dense<7> : tensor<50xi32>
  %u = stablehlo.constant dense<1> : tensor<100000xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<50xi32>, tensor<100000x1xi32>, tensor<100000xi32>) -> tensor<50xi32>
  return %0 : tensor<50xi32>
}

// -----

// Rows; an operand that is no number is combined with the sum in the end. The parts begin with the neutral number.
// CHECK-LABEL: func.func @rows
// CHECK: call @{{.*}} : (tensor<8x3750x1xi32>, tensor<8x3750x4xf32>) -> tensor<8x100x4xf32>
// CHECK: stablehlo.constant dense<0xFF800000> : tensor<8x100x4xf32>
// CHECK: stablehlo.maximum %arg{{.*}}, %{{.*}} : tensor<100x4xf32>
func.func @rows(%x: tensor<100x4xf32>, %i: tensor<30000x1xi32>, %u: tensor<30000x4xf32>) -> tensor<100x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<100x4xf32>, tensor<30000x1xi32>, tensor<30000x4xf32>) -> tensor<100x4xf32>
  return %0 : tensor<100x4xf32>
}

// -----

// Left alone: as many elements as updates; sums that would be rounded in parts; the last update that counts; a prime number of positions.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: input_batching_dims
// CHECK-LABEL: func.func @end
func.func @kept(%x: tensor<50000xf32>, %h: tensor<50xbf16>, %y: tensor<50xf32>, %i: tensor<100000x1xi32>, %p: tensor<100003x1xi32>, %u: tensor<100000xf32>,
                %v: tensor<100000xbf16>, %w: tensor<100003xf32>) -> (tensor<50000xf32>, tensor<50xbf16>, tensor<50xf32>, tensor<50xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<50000xf32>, tensor<100000x1xi32>, tensor<100000xf32>) -> tensor<50000xf32>
  %1 = "stablehlo.scatter"(%h, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %4 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %4 : tensor<bf16>
  }) : (tensor<50xbf16>, tensor<100000x1xi32>, tensor<100000xbf16>) -> tensor<50xbf16>
  %2 = "stablehlo.scatter"(%y, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<50xf32>, tensor<100000x1xi32>, tensor<100000xf32>) -> tensor<50xf32>
  %3 = "stablehlo.scatter"(%y, %p, %w) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<50xf32>, tensor<100003x1xi32>, tensor<100003xf32>) -> tensor<50xf32>
  return %0, %1, %2, %3 : tensor<50000xf32>, tensor<50xbf16>, tensor<50xf32>, tensor<50xf32>
}
func.func @end() { return }

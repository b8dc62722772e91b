// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dynamic operations with constant amounts become static; a result of unknown shape stays.
// RUN: xla-opt %s -stablehlo-canonicalize-dynamism | FileCheck %s

// CHECK-LABEL: @gather
// CHECK: "stablehlo.gather"(%arg0, %arg1) <{{.*}}slice_sizes = array<i64: 1, 4>
func.func @gather(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  %s = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: @reshape
// CHECK: stablehlo.reshape %arg0
// CHECK: stablehlo.dynamic_reshape %arg0
func.func @reshape(%x: tensor<16xf32>, %s: tensor<2xi64>) -> (tensor<4x4xf32>, tensor<?x?xf32>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<16xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  %1 = stablehlo.dynamic_reshape %x, %s : (tensor<16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<?x?xf32>
}

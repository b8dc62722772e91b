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

// Operands that name the shapes of results go, with their layouts; not where one is unknown, or where the call says something else.
// CHECK-LABEL: @shapes
// CHECK: stablehlo.custom_call @f(%arg0) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<3x5xf32>) -> (tensor<7xf32>, tensor<2x4xi8>)
// CHECK: stablehlo.custom_call @f(%arg0, %{{.*}}, %arg1) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>}
// CHECK: stablehlo.custom_call @g(%arg0, %{{.*}}) {indices_of_shape_operands = dense<1> : tensor<1xi64>}
func.func @shapes(%x: tensor<3x5xf32>, %s: tensor<2xi64>) -> (tensor<7xf32>, tensor<2x4xi8>, tensor<7xf32>, tensor<2x4xi8>, tensor<8xf32>) {
  %c = stablehlo.constant dense<7> : tensor<1xi64>
  %d = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  %0:2 = stablehlo.custom_call @f(%c, %x, %d) {indices_of_shape_operands = dense<[0, 2]> : tensor<2xi64>,
      operand_layouts = [dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>],
      result_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>]
    } : (tensor<1xi64>, tensor<3x5xf32>, tensor<2xi64>) -> (tensor<7xf32>, tensor<2x4xi8>)
  %1:2 = stablehlo.custom_call @f(%x, %c, %s) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>} : (tensor<3x5xf32>, tensor<1xi64>, tensor<2xi64>) -> (tensor<7xf32>, tensor<2x4xi8>)
  %2 = stablehlo.custom_call @g(%x, %c) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<3x5xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %0#0, %0#1, %1#0, %1#1, %2 : tensor<7xf32>, tensor<2x4xi8>, tensor<7xf32>, tensor<2x4xi8>, tensor<8xf32>
}

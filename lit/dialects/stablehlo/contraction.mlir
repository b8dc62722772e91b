// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of contractions and of the attributes of convolutions.
// RUN: xla-opt %s -allow-unregistered-dialect | xla-opt -allow-unregistered-dialect | FileCheck %s
// RUN: xla-opt %s -allow-unregistered-dialect -mlir-print-op-generic | xla-opt -allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: @dots
func.func @dots(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %v: tensor<3xi64>) {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>
  %1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [] : (tensor<3xi64>, tensor<3xi64>) -> tensor<i64>
  %2 = stablehlo.dot %v, %v, precision = [] : (tensor<3xi64>, tensor<3xi64>) -> tensor<i64>
  // CHECK: stablehlo.einsum %{{.*}}, %{{.*}}, config = "abc,acd->abd"
  %3 = stablehlo.einsum %a, %b, config = "abc,acd->abd" : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// CHECK-LABEL: @convolutions
func.func @convolutions(%a: tensor<2x4x4x2xf32>, %b: tensor<2x2x2x6xf32>) {
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  // CHECK: window = {stride = [2, 1], pad = {{\[\[}}0, 1], [1, 0]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [true, false]}
  %1 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 1], [1, 0]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x2x7x6xf32>
  // CHECK: #stablehlo.conv<[b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f]>
  "test.unknown"() {dims = #stablehlo.conv<[b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f]>} : () -> ()
  // CHECK: #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 0,
  "test.raw"() {dims = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 0>} : () -> ()
  return
}

// CHECK-LABEL: @systems
func.func @systems(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // CHECK: stablehlo.cholesky %{{.*}} : tensor<4x4xf32>
  %0 = stablehlo.cholesky %a : tensor<4x4xf32>
  // CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<4x4xf32>
  %1 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  // CHECK: "stablehlo.triangular_solve"(%{{.*}}, %{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
  %2 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// A dimension that no tensor has is printed as a number, not as the last of so many labels.
// CHECK-LABEL: @convolution_raw
// CHECK-SAME: x.dims = #stablehlo.conv<raw input_batch_dimension = 999999999999, input_feature_dimension = 3,
func.func @convolution_raw() attributes {x.dims = #stablehlo.conv<raw input_batch_dimension = 999999999999, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>} {
  return
}

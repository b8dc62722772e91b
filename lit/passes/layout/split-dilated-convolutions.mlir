// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of a dilated input is one dense convolution per phase; phases that no element of the kernel reaches are zeros.
// RUN: xla-opt %s -xla-split-dilated-convolutions | FileCheck %s
// RUN: xla-opt %s -xla-split-dilated-convolutions --remarks-filter-missed=xla-split-dilated-convolutions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// Result 0 meets kernel element 1 only, result 1 the elements 0 and 2.
// CHECK-LABEL: @window
// CHECK-DAG: %[[EVEN:.*]] = stablehlo.slice %arg1 [1:2, 0:8, 0:8]
// CHECK-DAG: %[[ODD:.*]] = stablehlo.slice %arg1 [0:3:2, 0:8, 0:8]
// CHECK-DAG: %[[P:.*]] = stablehlo.convolution(%arg0, %[[EVEN]]) {{.*}} window = {stride = [1], pad = {{\[\[}}0, -1]], lhs_dilate = [1], rhs_dilate = [1]{{.*}} -> tensor<1x4x8xf32>
// CHECK-DAG: %[[Q:.*]] = stablehlo.convolution(%arg0, %[[ODD]]) {{.*}} -> tensor<1x4x8xf32>
// CHECK: stablehlo.concatenate {{.*}} dim = 2 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x2x8xf32>
// CHECK: stablehlo.slice {{.*}} [0:1, 0:7, 0:8]
func.func @window(%x: tensor<1x5x8xf32>, %k: tensor<3x8x8xf32>) -> tensor<1x7x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, -1]], lhs_dilate = [2], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x8xf32>, tensor<3x8x8xf32>) -> tensor<1x7x8xf32>
  return %0 : tensor<1x7x8xf32>
}

// CHECK-LABEL: @one_element
// CHECK: stablehlo.convolution
// CHECK-NOT: stablehlo.convolution
// CHECK: stablehlo.constant dense<0.000000e+00> : tensor<1x4x8xf32>
// CHECK: return
func.func @one_element(%x: tensor<1x4x8xf32>, %k: tensor<1x8x8xf32>) -> tensor<1x7x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [2], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xf32>, tensor<1x8x8xf32>) -> tensor<1x7x8xf32>
  return %0 : tensor<1x7x8xf32>
}

// Strided and dilated at once, or a kernel dilated by the same number.
// CHECK-LABEL: @stays
// CHECK-NOT: slice
func.func @stays(%x: tensor<1x4x8xf32>, %k: tensor<3x8x8xf32>) -> (tensor<1x3x8xf32>, tensor<1x3x8xf32>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: its windows have strides where the input is dilated"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[0, 0]], lhs_dilate = [2], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xf32>, tensor<3x8x8xf32>) -> tensor<1x3x8xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: dilations of its input and its window have a common divisor"
  %1 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [2], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xf32>, tensor<3x8x8xf32>) -> tensor<1x3x8xf32>
  return %0, %1 : tensor<1x3x8xf32>, tensor<1x3x8xf32>
}

// Two dilated dimensions: each phase takes its elements of the kernel in one slice.
// CHECK-LABEL: @two_dimensions
// CHECK-DAG: stablehlo.slice %arg1 [0:3:2, 0:3:2, 0:4, 0:4] {{.*}} -> tensor<2x2x4x4xf32>
// CHECK-DAG: stablehlo.slice %arg1 [0:3:2, 1:2, 0:4, 0:4] {{.*}} -> tensor<2x1x4x4xf32>
// CHECK-DAG: stablehlo.slice %arg1 [1:2, 0:3:2, 0:4, 0:4] {{.*}} -> tensor<1x2x4x4xf32>
// CHECK-DAG: stablehlo.slice %arg1 [1:2, 1:2, 0:4, 0:4] {{.*}} -> tensor<1x1x4x4xf32>
// CHECK: return
func.func @two_dimensions(%x: tensor<1x4x4x4xf32>, %k: tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes and reversals of a convolution's operands become attributes of it.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,contractions | FileCheck %s

// CHECK-LABEL: @gradient
// CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = {{\[\[}}1, 1], [1, 1]], reverse = [true, true]}
func.func @gradient(%g: tensor<2x6x5x5xf32>, %k: tensor<6x4x3x3xf32>) -> tensor<2x4x5x5xf32> {
  %0 = stablehlo.reverse %k, dims = [2, 3] : tensor<6x4x3x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 2, 3] : (tensor<6x4x3x3xf32>) -> tensor<4x6x3x3xf32>
  %2 = stablehlo.convolution(%g, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x5x5xf32>, tensor<4x6x3x3xf32>) -> tensor<2x4x5x5xf32>
  return %2 : tensor<2x4x5x5xf32>
}

// Channels in reverse order are no window.
// CHECK-LABEL: @channels
// CHECK-NEXT: stablehlo.reverse
func.func @channels(%g: tensor<2x6x5x5xf32>, %k: tensor<4x6x3x3xf32>) -> tensor<2x4x5x5xf32> {
  %0 = stablehlo.reverse %k, dims = [1, 2] : tensor<4x6x3x3xf32>
  %1 = stablehlo.convolution(%g, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x5x5xf32>, tensor<4x6x3x3xf32>) -> tensor<2x4x5x5xf32>
  return %1 : tensor<2x4x5x5xf32>
}

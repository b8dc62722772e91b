// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// Strides in the map, padding in front, no im2col.
// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d6)>
// CHECK-LABEL: @strided
// CHECK: %[[PADDED:.*]] = tensor.insert_slice {{.*}} into {{.*}}[0, 1, 1, 0] [1, 9, 9, 3] [1, 1, 1, 1] : tensor<1x9x9x3xf32> into tensor<1x11x11x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[IN]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK-SAME: ins(%[[PADDED]]
func.func @strided(%x: tensor<1x9x9x3xf32>, %k: tensor<3x3x3x8xf32>) -> tensor<1x5x5x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x5x5x8xf32>
  return %0 : tensor<1x5x5x8xf32>
}

// -----

// Without padding the input is read as it is; a reversed window is in the map.
// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + -d3 + 2, d4)>
// CHECK-LABEL: @reversed
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic {indexing_maps = [#[[IN]],
func.func @reversed(%x: tensor<1x9x3xf32>, %k: tensor<3x3x8xf32>) -> tensor<1x7x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x3xf32>, tensor<3x3x8xf32>) -> tensor<1x7x8xf32>
  return %0 : tensor<1x7x8xf32>
}

// -----

// Groups are a parallel dimension of their own.
// CHECK-LABEL: @grouped
// CHECK: tensor.expand_shape {{.*}} : tensor<1x9x6xf32> into tensor<1x9x2x3xf32>
// CHECK: tensor.expand_shape {{.*}} : tensor<3x3x8xf32> into tensor<3x3x2x4xf32>
// CHECK: linalg.generic
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x7x2x4xf32> into tensor<1x7x8xf32>
func.func @grouped(%x: tensor<1x9x6xf32>, %k: tensor<3x3x8xf32>) -> tensor<1x7x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x9x6xf32>, tensor<3x3x8xf32>) -> tensor<1x7x8xf32>
  return %0 : tensor<1x7x8xf32>
}

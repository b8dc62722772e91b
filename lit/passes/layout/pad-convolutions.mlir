// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Borders become a copy.
// RUN: xla-opt %s -xla-pad-convolutions | FileCheck %s
// RUN: xla-opt %s -xla-pad-convolutions --remarks-filter-missed=xla-pad-convolutions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// CHECK-LABEL: @borders
// CHECK: %[[WIDE:.*]] = stablehlo.pad %arg0, {{.*}}, low = [0, 1, 0, 0], high = [0, 1, 2, 0], interior = [0, 0, 0, 0] : (tensor<2x9x7x8xf32>, tensor<f32>) -> tensor<2x11x9x8xf32>
// CHECK: stablehlo.convolution(%[[WIDE]], %arg1) {{.*}} window = {stride = [2, 1]} {{.*}}millrace.borders = dense<{{\[\[}}1, 1], [0, 2]]>
func.func @borders(%x: tensor<2x9x7x8xf32>, %k: tensor<3x3x8x16xf32>) -> tensor<2x5x7x16xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x7x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x5x7x16xf32>
  return %0 : tensor<2x5x7x16xf32>
}

// Channels elsewhere; parts cut off; a window of one element.
// CHECK-LABEL: @stays
// CHECK-NOT: stablehlo.pad
func.func @stays(%x: tensor<2x9x7x8xf32>, %y: tensor<2x8x9x7xf32>, %l: tensor<3x3x8x16xf32>, %p: tensor<1x1x8x16xf32>) -> (tensor<2x9x7x16xf32>, tensor<2x6x5x16xf32>, tensor<2x11x9x16xf32>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: neither channels nor the batch are the last dimension of its input"
  %1 = stablehlo.convolution(%y, %l) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x7xf32>, tensor<3x3x8x16xf32>) -> tensor<2x9x7x16xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: negative padding cuts elements off"
  %2 = stablehlo.convolution(%x, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[-1, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x7x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x6x5x16xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: its windows have one element"
  %3 = stablehlo.convolution(%x, %p) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x7x8xf32>, tensor<1x1x8x16xf32>) -> tensor<2x11x9x16xf32>
  return %1, %2, %3 : tensor<2x9x7x16xf32>, tensor<2x6x5x16xf32>, tensor<2x11x9x16xf32>
}

// Depthwise in any order: the borders would be asked for at every lane.
// CHECK-LABEL: @depthwise
// CHECK: stablehlo.pad %arg0, {{.*}}, low = [0, 0, 1, 1], high = [0, 0, 1, 1]
func.func @depthwise(%x: tensor<2x16x9x7xf32>, %k: tensor<16x1x3x3xf32>) -> tensor<2x16x9x7xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x9x7xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x9x7xf32>
  return %0 : tensor<2x16x9x7xf32>
}

// Depthwise with channels as lanes: a short window's kernel loads each element of a row once, border or not. Longer windows, fewer channels, and
// dilated windows, whose elements no neighbour shares, get their border before.
// CHECK-LABEL: @depthwise_channels_last
// CHECK: stablehlo.convolution(%arg0, %arg1) {{.*}}pad = {{\[\[}}1, 1], [1, 1]]
// CHECK-COUNT-3: stablehlo.pad
func.func @depthwise_channels_last(%x: tensor<2x9x7x16xf32>, %k: tensor<3x3x1x16xf32>, %long: tensor<9x9x1x16xf32>, %y: tensor<2x9x7x8xf32>, %l: tensor<3x3x1x8xf32>) -> (tensor<2x9x7x16xf32>, tensor<2x9x7x16xf32>, tensor<2x9x7x8xf32>, tensor<2x9x7x16xf32>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: its kernel loads each element of a row once for all windows, which costs less than a copy"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x9x7x16xf32>, tensor<3x3x1x16xf32>) -> tensor<2x9x7x16xf32>
  %1 = stablehlo.convolution(%x, %long) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[4, 4], [4, 4]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x9x7x16xf32>, tensor<9x9x1x16xf32>) -> tensor<2x9x7x16xf32>
  %2 = stablehlo.convolution(%y, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x9x7x8xf32>, tensor<3x3x1x8xf32>) -> tensor<2x9x7x8xf32>
  %3 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x9x7x16xf32>, tensor<3x3x1x16xf32>) -> tensor<2x9x7x16xf32>
  return %0, %1, %2, %3 : tensor<2x9x7x16xf32>, tensor<2x9x7x16xf32>, tensor<2x9x7x8xf32>, tensor<2x9x7x16xf32>
}

// Groups of some channels, here two of eight: they become the outer part of the batch.
// CHECK-LABEL: @groups
// CHECK: %[[SPLIT:.*]] = stablehlo.reshape %arg0 : (tensor<2x9x7x16xf32>) -> tensor<2x9x7x2x8xf32>
// CHECK: %[[WIDE:.*]] = stablehlo.pad %[[SPLIT]], {{.*}}, low = [0, 1, 0, 0, 0], high = [0, 1, 2, 0, 0], {{.*}} -> tensor<2x11x9x2x8xf32>
// CHECK: %[[MOVED:.*]] = stablehlo.transpose %[[WIDE]], dims = [3, 0, 1, 2, 4]
// CHECK: %[[BATCH:.*]] = stablehlo.reshape %[[MOVED]] : (tensor<2x2x11x9x8xf32>) -> tensor<4x11x9x8xf32>
// CHECK: stablehlo.convolution(%[[BATCH]], %arg1) {{.*}} window = {stride = [2, 1]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, millrace.borders = dense<{{\[\[}}1, 1], [0, 2]]>
func.func @groups(%x: tensor<2x9x7x16xf32>, %k: tensor<3x3x8x32xf32>) -> tensor<2x5x7x32xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x7x16xf32>, tensor<3x3x8x32xf32>) -> tensor<2x5x7x32xf32>
  return %0 : tensor<2x5x7x32xf32>
}

// Few channels are copied together with the columns.
// CHECK-LABEL: @image
// CHECK: %[[ROWS:.*]] = stablehlo.reshape %arg0 : (tensor<2x9x7x3xf32>) -> tensor<2x9x21xf32>
// CHECK: %[[WIDE:.*]] = stablehlo.pad %[[ROWS]], {{.*}}, low = [0, 1, 3], high = [0, 1, 6], {{.*}} -> tensor<2x11x30xf32>
// CHECK: %[[IMAGE:.*]] = stablehlo.reshape %[[WIDE]] : (tensor<2x11x30xf32>) -> tensor<2x11x10x3xf32>
// CHECK: stablehlo.convolution(%[[IMAGE]], %arg1)
func.func @image(%x: tensor<2x9x7x3xf32>, %k: tensor<3x3x3x16xf32>) -> tensor<2x9x8x16xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x7x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x9x8x16xf32>
  return %0 : tensor<2x9x8x16xf32>
}

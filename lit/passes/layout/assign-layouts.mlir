// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions get their channels last, and what stands between them follows; what would gain nothing stays.
// RUN: xla-opt %s -xla-assign-layouts | FileCheck %s
// RUN: xla-opt %s -xla-assign-layouts --remarks-filter-missed=xla-assign-layouts -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// CHECK-LABEL: @image
func.func @image(%x: tensor<2x8x9x7xf32>, %k: tensor<16x8x3x3xf32>) -> tensor<2x16x5x4xf32> {
  // CHECK: %[[X:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x8x9x7xf32>) -> tensor<2x9x7x8xf32>
  // CHECK: %[[Y:.*]] = stablehlo.convolution(%[[X]], %arg1) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f], window = {stride = [2, 2], pad = {{\[\[}}1, 1], [1, 1]]} {{.*}} -> tensor<2x5x4x16xf32>
  // CHECK: stablehlo.transpose %[[Y]], dims = [0, 3, 1, 2] : (tensor<2x5x4x16xf32>) -> tensor<2x16x5x4xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x7xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x5x4xf32>
  return %0 : tensor<2x16x5x4xf32>
}

// Many rows read the weights several times: they are worth a transpose.
// CHECK-LABEL: @large_image
func.func @large_image(%x: tensor<1x8x36x36xf32>, %k: tensor<16x8x3x3xf32>) -> tensor<1x16x34x34xf32> {
  // CHECK-DAG: %[[X:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<1x8x36x36xf32>) -> tensor<1x36x36x8xf32>
  // CHECK-DAG: %[[K:.*]] = stablehlo.transpose %arg1, dims = [1, 2, 3, 0] : (tensor<16x8x3x3xf32>) -> tensor<8x3x3x16xf32>
  // CHECK: stablehlo.convolution(%[[X]], %[[K]]) dim_numbers = [b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f]
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x36x36xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x34x34xf32>
  return %0 : tensor<1x16x34x34xf32>
}

// Sums of a few products (the first layer of a speech model): its result would cost more to move than to compute.
// CHECK-LABEL: @short
func.func @short(%x: tensor<1x1x400xf32>, %k: tensor<32x1x10xf32>) -> tensor<1x32x79xf32> {
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0]
  // CHECK-NEXT: return
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: no order of dimensions costs less than the program's"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [5]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x400xf32>, tensor<32x1x10xf32>) -> tensor<1x32x79xf32>
  return %0 : tensor<1x32x79xf32>
}

// A signal of many steps and more products per sum: its steps are as good lanes as the outputs.
// CHECK-LABEL: @signal
func.func @signal(%x: tensor<2x80x100xf32>, %k: tensor<64x80x3xf32>) -> tensor<2x64x100xf32> {
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0]
  // CHECK-NEXT: return
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: no order of dimensions costs less than the program's"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x80x100xf32>, tensor<64x80x3xf32>) -> tensor<2x64x100xf32>
  return %0 : tensor<2x64x100xf32>
}

// Of so many products per sum that moving the result hardly counts.
// CHECK-LABEL: @deep_signal
// CHECK: stablehlo.convolution({{.*}} dim_numbers = [b, 0, f]x
func.func @deep_signal(%x: tensor<2x240x100xf32>, %k: tensor<64x240x3xf32>) -> tensor<2x64x100xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x240x100xf32>, tensor<64x240x3xf32>) -> tensor<2x64x100xf32>
  return %0 : tensor<2x64x100xf32>
}

// Some more of them where windows step by one: lanes go along the image's rows.
// CHECK-LABEL: @short_along_rows
func.func @short_along_rows(%x: tensor<1x3x40x40xf32>, %k: tensor<16x3x3x3xf32>) -> tensor<1x16x38x38xf32> {
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
  // CHECK-NEXT: return
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: no order of dimensions costs less than the program's"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x40x40xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x38x38xf32>
  return %0 : tensor<1x16x38x38xf32>
}

// CHECK-LABEL: @short_with_steps
func.func @short_with_steps(%x: tensor<1x3x40x40xf32>, %k: tensor<16x3x3x3xf32>) -> tensor<1x16x19x19xf32> {
  // CHECK: stablehlo.transpose %arg0, dims = [0, 2, 3, 1]
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x40x40xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x19x19xf32>
  return %0 : tensor<1x16x19x19xf32>
}

// A window larger than the result is no gradient of weights where channels are last.
// CHECK-LABEL: @patches
func.func @patches(%x: tensor<4x64x64x3xf32>, %k: tensor<16x16x3x32xf32>) -> tensor<4x4x4x32xf32> {
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [16, 16]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x64x64x3xf32>, tensor<16x16x3x32xf32>) -> tensor<4x4x4x32xf32>
  return %0 : tensor<4x4x4x32xf32>
}

// One transpose of the image on the way in, one on the way out: bias, relu, pooling and the next convolution follow; so does a
// convolution whose window has one element.
// CHECK-LABEL: @chain
// CHECK: stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x8x10x8xf32>)
func.func @chain(%x: tensor<2x8x10x8xf32>, %k: tensor<16x8x3x3xf32>, %b: tensor<16xf32>, %p: tensor<16x16x1x1xf32>) -> (tensor<2x16x4x3xf32>, tensor<2x16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<2x16x8x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x10x8xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x8x6xf32>
  // CHECK: stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<16xf32>) -> tensor<2x8x6x16xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<16xf32>) -> tensor<2x16x8x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x16x8x6xf32>
  // CHECK: stablehlo.maximum {{.*}} : tensor<2x8x6x16xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<2x16x8x6xf32>
  // CHECK: "stablehlo.reduce_window"{{.*}}padding = dense<{{\[\[}}0, 0], [1, 0], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>
  %4 = "stablehlo.reduce_window"(%3, %low) <{window_dimensions = array<i64: 1, 1, 3, 2>, window_strides = array<i64: 1, 1, 2, 2>, padding = dense<[[0, 0], [0, 0], [1, 0], [0, 1]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %m = stablehlo.maximum %a, %c : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x16x8x6xf32>, tensor<f32>) -> tensor<2x16x4x3xf32>
  // CHECK: stablehlo.convolution{{.*}} dim_numbers = [b, 0, 1, f]x{{.*}}->[b, 0, 1, f]
  // CHECK-NEXT: stablehlo.transpose {{.*}}, dims = [0, 3, 1, 2] : (tensor<2x4x3x16xf32>) -> tensor<2x16x4x3xf32>
  %5 = stablehlo.convolution(%4, %p) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x4x3xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x4x3xf32>
  // CHECK: stablehlo.reduce{{.*}} across dimensions = [1, 2] : (tensor<2x4x3x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %6 = stablehlo.reduce(%5 init: %none) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x16x4x3xf32>, tensor<f32>) -> tensor<2x16xf32>
  return %5, %6 : tensor<2x16x4x3xf32>, tensor<2x16xf32>
}

// The gradient of the weights: images keep their channels last, what was the batch is summed over.
// CHECK-LABEL: @weights
func.func @weights(%x: tensor<8x16x5x5xf32>, %g: tensor<8x16x5x5xf32>) -> tensor<16x16x3x3xf32> {
  // CHECK-DAG: stablehlo.transpose %arg0, dims = [0, 2, 3, 1]
  // CHECK-DAG: stablehlo.transpose %arg1, dims = [0, 2, 3, 1]
  // CHECK: stablehlo.convolution{{.*}} dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f]
  // CHECK: stablehlo.transpose {{.*}}, dims = [3, 0, 1, 2]
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x5x5xf32>, tensor<8x16x5x5xf32>) -> tensor<16x16x3x3xf32>
  return %0 : tensor<16x16x3x3xf32>
}

// CHECK-LABEL: @last_already
func.func @last_already(%x: tensor<2x9x7x8xf32>, %k: tensor<3x3x8x16xf32>) -> tensor<2x7x5x16xf32> {
  // CHECK-NOT: transpose
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x7x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x7x5x16xf32>
  return %0 : tensor<2x7x5x16xf32>
}

// Matrix products alone; few outputs.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<2x16x9x7xf32>, %k: tensor<16x16x1x1xf32>, %d: tensor<3x16x3x3xf32>) -> (tensor<2x16x9x7xf32>, tensor<2x3x7x5xf32>) {
  // CHECK-NOT: transpose
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: no order of dimensions costs less than the program's"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x9x7xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x9x7xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: no order of dimensions costs less than the program's"
  %1 = stablehlo.convolution(%x, %d) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x9x7xf32>, tensor<3x16x3x3xf32>) -> tensor<2x3x7x5xf32>
  return %0, %1 : tensor<2x16x9x7xf32>, tensor<2x3x7x5xf32>
}

// Depthwise convolutions alone have lanes along their columns, if the windows are next to each other.
// CHECK-LABEL: @depthwise
// CHECK-NEXT: %[[SAME:.*]] = stablehlo.convolution(%arg0, %arg1) {{.*}}[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
// CHECK-NEXT: return %[[SAME]]
func.func @depthwise(%x: tensor<2x16x9x7xf32>, %k: tensor<16x1x3x3xf32>) -> tensor<2x16x9x7xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.convolution stays: no order of dimensions costs less than the program's"
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x9x7xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x9x7xf32>
  return %0 : tensor<2x16x9x7xf32>
}

// CHECK-LABEL: @depthwise_in_steps
// CHECK: stablehlo.convolution{{.*}}->[b, 0, 1, f]
func.func @depthwise_in_steps(%x: tensor<2x16x9x7xf32>, %k: tensor<16x1x3x3xf32>) -> tensor<2x16x5x4xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x9x7xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x5x4xf32>
  return %0 : tensor<2x16x5x4xf32>
}

// Channels last in one place only leave gaps between the lanes in the others: all get them last.
// CHECK-LABEL: @depthwise_mixed
// CHECK-DAG: %[[K:.*]] = stablehlo.transpose %arg1, dims = [2, 1, 0] : (tensor<32x1x4xf32>) -> tensor<4x1x32xf32>
// CHECK:     %[[Y:.*]] = stablehlo.convolution(%arg0, %[[K]]) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
// CHECK:     %[[Z:.*]] = stablehlo.transpose %[[Y]], dims = [0, 2, 1] : (tensor<2x20x32xf32>) -> tensor<2x32x20xf32>
// CHECK:     return %[[Z]]
func.func @depthwise_mixed(%x: tensor<2x23x32xf32>, %k: tensor<32x1x4xf32>) -> tensor<2x32x20xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[o, i, 0]->[b, f, 0], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 32 : i64} : (tensor<2x23x32xf32>, tensor<32x1x4xf32>) -> tensor<2x32x20xf32>
  return %0 : tensor<2x32x20xf32>
}

// CHECK-LABEL: @depthwise_weights_first
// CHECK: %[[K:.*]] = stablehlo.transpose %arg1, dims = [2, 1, 0] : (tensor<32x1x4xf32>) -> tensor<4x1x32xf32>
// CHECK: stablehlo.convolution(%arg0, %[[K]]) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
func.func @depthwise_weights_first(%x: tensor<2x23x32xf32>, %k: tensor<32x1x4xf32>) -> tensor<2x20x32xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[o, i, 0]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 32 : i64} : (tensor<2x23x32xf32>, tensor<32x1x4xf32>) -> tensor<2x20x32xf32>
  return %0 : tensor<2x20x32xf32>
}

// Groups of two channels are no columns of a matrix product: lanes go along the image's rows, and what follows keeps that order.
// CHECK-LABEL: @groups_of_few
// CHECK: %[[X:.*]] = stablehlo.transpose %arg0, dims = [0, 3, 1, 2] : (tensor<2x9x8x32xf32>) -> tensor<2x32x9x8xf32>
// CHECK: %[[Y:.*]] = stablehlo.convolution(%[[X]], %arg1) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], {{.*}}pad = {{\[\[}}1, 1], [1, 1]]{{.*}} -> tensor<2x32x9x8xf32>
// CHECK: %[[Z:.*]] = stablehlo.tanh %[[Y]] : tensor<2x32x9x8xf32>
// CHECK: stablehlo.transpose %[[Z]], dims = [0, 2, 3, 1] : (tensor<2x32x9x8xf32>) -> tensor<2x9x8x32xf32>
func.func @groups_of_few(%x: tensor<2x9x8x32xf32>, %k: tensor<3x3x2x32xf32>) -> tensor<2x9x8x32xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x9x8x32xf32>, tensor<3x3x2x32xf32>) -> tensor<2x9x8x32xf32>
  %1 = stablehlo.tanh %0 : tensor<2x9x8x32xf32>
  return %1 : tensor<2x9x8x32xf32>
}

// Four of bf16, too, which would be widened for each product.
// CHECK-LABEL: @narrow_groups
// CHECK: stablehlo.convolution({{.*}} dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1]
func.func @narrow_groups(%x: tensor<2x9x12x32xbf16>, %k: tensor<3x3x4x32xbf16>) -> tensor<2x9x12x32xbf16> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x9x12x32xbf16>, tensor<3x3x4x32xbf16>) -> tensor<2x9x12x32xbf16>
  return %0 : tensor<2x9x12x32xbf16>
}

// Four of f32 are columns; rows that are too short; windows with steps.
// CHECK-LABEL: @groups_that_stay
// CHECK-NOT: transpose
// CHECK: return
func.func @groups_that_stay(%x: tensor<2x9x12x32xf32>, %k: tensor<3x3x4x32xf32>, %y: tensor<2x9x6x32xf32>, %l: tensor<3x3x2x32xf32>) -> (tensor<2x9x12x32xf32>, tensor<2x9x6x32xf32>, tensor<2x5x6x32xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x9x12x32xf32>, tensor<3x3x4x32xf32>) -> tensor<2x9x12x32xf32>
  %1 = stablehlo.convolution(%y, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x9x6x32xf32>, tensor<3x3x2x32xf32>) -> tensor<2x9x6x32xf32>
  %2 = stablehlo.convolution(%x, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x9x12x32xf32>, tensor<3x3x2x32xf32>) -> tensor<2x5x6x32xf32>
  return %0, %1, %2 : tensor<2x9x12x32xf32>, tensor<2x9x6x32xf32>, tensor<2x5x6x32xf32>
}

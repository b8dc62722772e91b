// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of 3x3 become products of 16 sums per tile of 2x2 results, in relaxed compilation only.
// RUN: xla-opt %s -xla-winograd-convolutions | FileCheck %s
// RUN: xla-opt %s -xla-winograd-convolutions --remarks-filter-missed=xla-winograd-convolutions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: xla-compile %s --entry=even --relaxed --constant=1 --emit=simplified --cache-dir=off -o - | FileCheck %s --check-prefix=RELAXED
// RUN: xla-compile %s --entry=even --constant=1 --emit=simplified --cache-dir=off -o - | FileCheck %s --check-prefix=STRICT
// RUN: xla-run %s --entry=even --relaxed --constant=1 --verify --seed=1 --quiet --cache-dir=off
// RUN: xla-run %s --entry=odd --relaxed --verify --seed=1 --quiet --cache-dir=off

// RELAXED: func.func @even
// RELAXED-NOT: stablehlo.convolution
// RELAXED: stablehlo.dot_general
// RELAXED-NOT: stablehlo.convolution
// RELAXED: func.func @odd
// STRICT: func.func @even
// STRICT: stablehlo.convolution
// STRICT: func.func @odd

// CHECK-LABEL: @even
// CHECK: stablehlo.pad %arg0, {{.*}}low = [0, 1, 1, 0], high = [0, 1, 1, 0]
// CHECK: stablehlo.dot_general {{.*}}batching_dims = [0] x [0], contracting_dims = [2] x [1]{{.*}}(tensor<16x98x64xf32>, tensor<16x64x80xf32>) -> tensor<16x98x80xf32>
// CHECK-NOT: stablehlo.convolution
func.func @even(%x: tensor<2x14x14x64xf32>, %w: tensor<3x3x64x80xf32> {millrace.constant}) -> tensor<2x14x14x80xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x14x14x64xf32>, tensor<3x3x64x80xf32>) -> tensor<2x14x14x80xf32>
  return %0 : tensor<2x14x14x80xf32>
}

// Borders of unequal widths; tiles that stick out are cut off; weights in PyTorch's order.
// CHECK-LABEL: @odd
// CHECK: stablehlo.pad %arg0, {{.*}}low = [0, 0, 2, 0], high = [0, 2, 2, 0]
// CHECK: stablehlo.transpose %arg1, dims = [2, 3, 1, 0]
// CHECK: stablehlo.dot_general {{.*}}-> tensor<16x1600x64xf32>
// CHECK: stablehlo.slice {{.*}}[0:1, 0:63, 0:99, 0:64]
// CHECK-NOT: stablehlo.convolution
func.func @odd(%x: tensor<1x64x98x96xf32>, %w: tensor<64x96x3x3xf32>) -> tensor<1x63x99x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f], window = {pad = [[0, 1], [2, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x64x98x96xf32>, tensor<64x96x3x3xf32>) -> tensor<1x63x99x64xf32>
  return %0 : tensor<1x63x99x64xf32>
}

// Few tiles: the sums of weights pay off if they are prepared, which those of weights that the caller gives up are not, although they are marked.
// CHECK-LABEL: @few_tiles
// CHECK-NOT: stablehlo.convolution
func.func @few_tiles(%x: tensor<1x10x10x64xf32>, %w: tensor<3x3x64x64xf32> {millrace.constant}) -> tensor<1x8x8x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x10x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x8x8x64xf32>
  return %0 : tensor<1x8x8x64xf32>
}

// CHECK-LABEL: @donated
// CHECK: stablehlo.convolution
// REMARK: remark:{{.*}}its sums would move more than its products save
func.func @donated(%x: tensor<1x10x10x64xf32>, %w: tensor<3x3x64x64xf32> {millrace.constant, jax.buffer_donor = true}) -> tensor<1x8x8x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x10x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x8x8x64xf32>
  return %0 : tensor<1x8x8x64xf32>
}

// Sums of weights that change in every call cost more than they save where there are few tiles.
// CHECK-LABEL: @others
// CHECK-COUNT-6: stablehlo.convolution
// REMARK: remark:{{.*}}its sums would move more than its products save
// REMARK: remark:{{.*}}its sums would move more than its products save
// REMARK: remark:{{.*}}its precision is not the default
// REMARK: remark:{{.*}}it has strides, dilations, groups or a reversed window
// REMARK: remark:{{.*}}its window is not 3x3 with static sizes
// REMARK: remark:{{.*}}its elements are not f32
func.func @others(%x: tensor<1x6x6x64xf32>, %w: tensor<3x3x64x64xf32>, %few: tensor<1x34x34x8xf32>, %v: tensor<3x3x8x8xf32>, %big: tensor<1x34x34x64xf32>,
                  %five: tensor<5x5x64x64xf32>, %half: tensor<1x34x34x64xbf16>, %weights: tensor<3x3x64x64xbf16>)
    -> (tensor<1x4x4x64xf32>, tensor<1x32x32x8xf32>, tensor<1x32x32x64xf32>, tensor<1x16x16x64xf32>, tensor<1x30x30x64xf32>, tensor<1x32x32x64xbf16>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x4x4x64xf32>
  %1 = stablehlo.convolution(%few, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x34x34x8xf32>, tensor<3x3x8x8xf32>) -> tensor<1x32x32x8xf32>
  %2 = stablehlo.convolution(%big, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<1x34x34x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x32x32x64xf32>
  %3 = stablehlo.convolution(%big, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x34x34x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x16x16x64xf32>
  %4 = stablehlo.convolution(%big, %five) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x34x34x64xf32>, tensor<5x5x64x64xf32>) -> tensor<1x30x30x64xf32>
  %5 = stablehlo.convolution(%half, %weights) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x34x34x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x32x32x64xbf16>
  return %0, %1, %2, %3, %4, %5 : tensor<1x4x4x64xf32>, tensor<1x32x32x8xf32>, tensor<1x32x32x64xf32>, tensor<1x16x16x64xf32>, tensor<1x30x30x64xf32>, tensor<1x32x32x64xbf16>
}

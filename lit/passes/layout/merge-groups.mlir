// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statistics of groups of channels are reduced over images first; what happens at every element happens before the split.
// RUN: xla-opt %s -xla-merge-groups -cse -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-merge-groups -split-input-file --remarks-filter-missed=xla-merge-groups -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// CHECK-LABEL: @group_norm
// CHECK-SAME: %[[X:.*]]: tensor<2x8x8x12xf32>
// CHECK: %[[IMAGES:.*]] = stablehlo.reduce(%[[X]] {{.*}} dimensions = [1, 2] : {{.*}} -> tensor<2x12xf32>
// CHECK: %[[SPLIT:.*]] = stablehlo.reshape %[[IMAGES]] : (tensor<2x12xf32>) -> tensor<2x4x3xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[SPLIT]] {{.*}} dimensions = [2] : {{.*}} -> tensor<2x4xf32>
// CHECK: %[[CHANNELS:.*]] = stablehlo.broadcast_in_dim %[[SUM]], dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
// CHECK: %[[FLAT:.*]] = stablehlo.reshape %[[CHANNELS]] : (tensor<2x4x3xf32>) -> tensor<2x12xf32>
// CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[FLAT]], dims = [0, 3] : (tensor<2x12xf32>) -> tensor<2x8x8x12xf32>
// CHECK: %[[R:.*]] = stablehlo.subtract %[[X]], %[[SPREAD]] : tensor<2x8x8x12xf32>
// CHECK: return %[[R]]
func.func @group_norm(%x: tensor<2x8x8x12xf32>) -> tensor<2x8x8x12xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<2x8x8x12xf32>) -> tensor<2x8x8x4x3xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<2x8x8x4x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 3] : (tensor<2x4xf32>) -> tensor<2x8x8x4x3xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<2x8x8x4x3xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8x4x3xf32>) -> tensor<2x8x8x12xf32>
  return %4 : tensor<2x8x8x12xf32>
}

// -----

// Heads of attention: only parts of a dimension are reduced.
// CHECK-LABEL: @heads
// CHECK: stablehlo.multiply {{.*}} tensor<64x12x4xf32>
// CHECK: dimensions = [2]
func.func @heads(%x: tensor<64x48xf32>) -> tensor<64x12xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<64x48xf32>) -> tensor<64x12x4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<64x12x4xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<64x12x4xf32>, tensor<f32>) -> tensor<64x12xf32>
  return %2 : tensor<64x12xf32>
}

// -----

// Sums between the steps would be rounded to bf16; an initial value would count several times.
// CHECK-LABEL: @rounded
// CHECK: dimensions = [0, 2]
// CHECK: dimensions = [0, 2]
func.func @rounded(%x: tensor<64x12xbf16>, %y: tensor<64x12xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<64x12xbf16>) -> tensor<64x4x3xbf16>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce stays: results between two steps would be rounded"
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<64x4x3xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %2 = stablehlo.reshape %y : (tensor<64x12xf32>) -> tensor<64x4x3xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce stays: its initial value is not known to be neutral"
  %3 = stablehlo.reduce(%2 init: %one) applies stablehlo.add across dimensions = [0, 2] : (tensor<64x4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

// -----

// Images flattened before their channels are split: both reshapes have a common refinement, of which the images are a merged form.
// What follows on the images' own shape is not parted from the rest.
// CHECK-LABEL: @flattened
// CHECK-SAME: %[[X:.*]]: tensor<2x8x8x12xf32>, %[[SCALE:.*]]: tensor<12xf32>
// CHECK: stablehlo.reduce(%[[X]] {{.*}} dimensions = [1, 2] : {{.*}} -> tensor<2x12xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce{{.*}} dimensions = [2] : {{.*}} -> tensor<2x4xf32>
// CHECK-NOT: 64x
// CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim {{.*}} dims = [0, 3] : (tensor<2x12xf32>) -> tensor<2x8x8x12xf32>
// CHECK: %[[D:.*]] = stablehlo.subtract %[[X]], %[[SPREAD]] : tensor<2x8x8x12xf32>
// CHECK: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[SCALE]], dims = [3]
// CHECK: %[[R:.*]] = stablehlo.multiply %[[D]], %[[WIDE]] : tensor<2x8x8x12xf32>
// CHECK-NEXT: return %[[R]]
func.func @flattened(%x: tensor<2x8x8x12xf32>, %scale: tensor<12xf32>) -> tensor<2x8x8x12xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<2x8x8x12xf32>) -> tensor<2x64x4x3xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x64x4x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x4xf32>) -> tensor<2x1x4x1xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<2x1x4x1xf32>) -> tensor<2x64x4x3xf32>
  %4 = stablehlo.subtract %0, %3 : tensor<2x64x4x3xf32>
  %5 = stablehlo.reshape %4 : (tensor<2x64x4x3xf32>) -> tensor<2x8x8x12xf32>
  %6 = stablehlo.broadcast_in_dim %scale, dims = [3] : (tensor<12xf32>) -> tensor<2x8x8x12xf32>
  %7 = stablehlo.multiply %5, %6 : tensor<2x8x8x12xf32>
  return %7 : tensor<2x8x8x12xf32>
}

// -----

// Rows of a group are contiguous, and there is no convolution that wants images in another order.
// CHECK-LABEL: @contiguous
// CHECK: stablehlo.reduce{{.*}} dimensions = [2] : (tensor<2x4x192xf32>
func.func @contiguous(%x: tensor<2x12x8x8xf32>) -> tensor<2x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<2x12x8x8xf32>) -> tensor<2x4x192xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<2x4x192xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x192xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// 4x6 and 3x8 are no merged forms of one shape.
// CHECK-LABEL: @incommensurable
// CHECK: stablehlo.reduce{{.*}} dimensions = [0, 1] : (tensor<32x3x8xf32>
func.func @incommensurable(%x: tensor<32x4x6xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<32x4x6xf32>) -> tensor<32x3x8xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<32x3x8xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x3x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Parts of channels alone are reduced; the sum of a product with a whole tensor of the split shape would need that tensor in the merged shape.
// CHECK-LABEL: @not_merged
// CHECK: stablehlo.reduce{{.*}} dimensions = [2] : (tensor<64x4x3xf32>
// CHECK: stablehlo.multiply {{.*}} tensor<64x4x3xf32>
func.func @not_merged(%x: tensor<64x12xf32>, %y: tensor<64x4x3xf32>) -> (tensor<64x4xf32>, tensor<4xf32>, tensor<64x4x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<64x12xf32>) -> tensor<64x4x3xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce stays: it does not reduce both whole dimensions of 16 elements or more and parts of others"
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<64x4x3xf32>, tensor<f32>) -> tensor<64x4xf32>
  %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<64x4x3xf32>, tensor<f32>) -> tensor<4xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.multiply stays: one of its operands could be merged by another pass over its elements only"
  %3 = stablehlo.multiply %0, %y : tensor<64x4x3xf32>
  return %1, %2, %3 : tensor<64x4xf32>, tensor<4xf32>, tensor<64x4x3xf32>
}

// -----

// What comes behind reads the images, not their groups, in whatever shape; a sum may have its arguments in either order.
// CHECK-LABEL: @flattened_behind
// CHECK-SAME: %[[X:.*]]: tensor<2x8x8x12xf32>
// CHECK: stablehlo.reduce(%[[X]] {{.*}} dimensions = [1, 2]
// CHECK: %[[D:.*]] = stablehlo.subtract %[[X]], %{{.*}} : tensor<2x8x8x12xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[D]] : (tensor<2x8x8x12xf32>) -> tensor<2x64x12xf32>
// CHECK: return %[[R]]
func.func @flattened_behind(%x: tensor<2x8x8x12xf32>) -> tensor<2x64x12xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<2x8x8x12xf32>) -> tensor<2x8x8x4x3xf32>
  %1 = "stablehlo.reduce"(%0, %zero) <{dimensions = array<i64: 1, 2, 4>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x8x8x4x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 3] : (tensor<2x4xf32>) -> tensor<2x8x8x4x3xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<2x8x8x4x3xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8x4x3xf32>) -> tensor<2x64x12xf32>
  return %4 : tensor<2x64x12xf32>
}

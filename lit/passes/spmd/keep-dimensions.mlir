// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch and heads are split, each along an axis of its own. PyTorch merges them for a product of batches, and flattens for views:
// nothing is gathered for either.
// RUN: xla-compile %s --emit=partitioned | FileCheck %s
// RUN: xla-compile %s --emit=partitioned | FileCheck %s --check-prefix=LOCAL

// LOCAL-NOT: all_gather
// LOCAL-NOT: all_to_all
// LOCAL-NOT: collective_permute

// CHECK: @main(%arg0: tensor<4x2x16x2xf32> {{.*}}, %arg1: tensor<4x1x16x2xf32> {{.*}}, %arg2: tensor<4x16x4xf32>
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func @main(%q: tensor<8x8x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>},
                  %k: tensor<8x4x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>},
                  %x: tensor<8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}]>},
                  %a: tensor<2x3x4x4xf32>, %b: tensor<3x2x4x4xf32>) -> (tensor<8x8x16x16xf32>, tensor<8x8x16x2xf32>, tensor<6x4x4xf32>) {
    // The second operand is transposed behind its reshape, and its heads are two for each of the first's.
    // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 3, 4] : (tensor<4x1x16x2xf32>) -> tensor<4x1x2x16x2xf32>
    // CHECK: %[[R:.*]] = stablehlo.reshape %[[B]] : (tensor<4x1x2x16x2xf32>) -> tensor<4x2x16x2xf32>
    // CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [0, 1, 3, 2]
    // CHECK: %[[DOT:.*]] = stablehlo.dot_general %arg0, %[[T]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<4x2x16x2xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x16x16xf32>
    %0 = stablehlo.reshape %q : (tensor<8x8x16x2xf32>) -> tensor<64x16x2xf32>
    %1 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3, 4] : (tensor<8x4x16x2xf32>) -> tensor<8x4x2x16x2xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x4x2x16x2xf32>) -> tensor<2048xf32>
    %3 = stablehlo.reshape %2 : (tensor<2048xf32>) -> tensor<64x16x2x1xf32>
    %4 = stablehlo.reshape %3 : (tensor<64x16x2x1xf32>) -> tensor<64x16x2xf32>
    %5 = stablehlo.transpose %4, dims = [0, 2, 1] : (tensor<64x16x2xf32>) -> tensor<64x2x16xf32>
    %6 = stablehlo.dot_general %0, %5, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<64x16x2xf32>, tensor<64x2x16xf32>) -> tensor<64x16x16xf32>
    %7 = stablehlo.reshape %6 : (tensor<64x16x16xf32>) -> tensor<8x8x16x16xf32>
    // A view of a product whose columns are split: flat in between.
    // CHECK: %[[SPLIT:.*]] = stablehlo.reshape %arg2 : (tensor<4x16x4xf32>) -> tensor<4x16x2x2xf32>
    // CHECK: %[[VIEW:.*]] = stablehlo.transpose %[[SPLIT]], dims = [0, 2, 1, 3]
    %8 = stablehlo.reshape %x : (tensor<8x16x16xf32>) -> tensor<2048xf32>
    %9 = stablehlo.reshape %8 : (tensor<2048xf32>) -> tensor<8x16x8x2xf32>
    %10 = stablehlo.transpose %9, dims = [0, 2, 1, 3] : (tensor<8x16x8x2xf32>) -> tensor<8x8x16x2xf32>
    // Cut at different places, 2 x 3 here and 3 x 2 there: stays.
    // CHECK: %[[APART:.*]] = stablehlo.dot_general {{.*}} batching_dims = [0] x [0]
    %11 = stablehlo.reshape %a : (tensor<2x3x4x4xf32>) -> tensor<6x4x4xf32>
    %12 = stablehlo.reshape %b : (tensor<3x2x4x4xf32>) -> tensor<6x4x4xf32>
    %13 = stablehlo.dot_general %11, %12, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x4x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
    // CHECK: return %[[DOT]], %[[VIEW]], %[[APART]]
    return %7, %10, %13 : tensor<8x8x16x16xf32>, tensor<8x8x16x2xf32>, tensor<6x4x4xf32>
  }
}

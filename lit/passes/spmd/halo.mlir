// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Along a split dimension neighbours lend each other what windows, slices and the like reach for.
// RUN: xla-opt %s -split-input-file -xla-spmd-partition | FileCheck %s --implicit-check-not=all_gather

// A window of three: one element from the left, one from the right.
module @window attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: module @window
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [3:4] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[LEFT:.*]] = "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1]]>
  // CHECK-NEXT: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[RIGHT:.*]] = "stablehlo.collective_permute"(%[[FIRST]]) {{.*}}source_target_pairs = dense<{{\[\[}}1, 0]]>
  // CHECK-NEXT: %[[ALL:.*]] = stablehlo.concatenate %[[LEFT]], %arg0, %[[RIGHT]], dim = 0
  // Outside of the dimension stands the initial value.
  // CHECK: %[[PADDED:.*]] = stablehlo.select %{{.*}}, %[[ALL]], %{{.*}} : tensor<6xi1>, tensor<6xf32>
  // CHECK: "stablehlo.reduce_window"(%[[PADDED]]
  // CHECK-SAME: padding = dense<0>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Tiles change hands, and each is turned.
module @reverse attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @reverse
  // CHECK: %[[OTHER:.*]] = "stablehlo.collective_permute"(%arg0) {{.*}}source_target_pairs = dense<{{\[\[}}3, 0], [2, 1], [1, 2], [0, 3]]>
  // CHECK: stablehlo.reverse %[[OTHER]], dims = [0] : tensor<2xf32>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// What every device has is cut where it is, without a message.
module @whole attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: module @whole
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<9xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %0 = stablehlo.slice %x [1:9] : (tensor<9xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Rows are whole at first; once devices have taken theirs, columns are exchanged among those with the same rows.
module @two_dimensions attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[0, 3, 1, 2]>
  // CHECK-LABEL: module @two_dimensions
  // CHECK: collective_permute{{.*}}source_target_pairs = dense<{{\[\[}}0, 3], [1, 2]]>
  func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %zero, low = [1, 1], high = [-1, -1], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// Tiles of the result begin elsewhere than the operand's: the second device lacks one row on its left, the third one on its right,
// the outer ones nothing. No more than that is sent.
module @pad attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @pad
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [3:4, 0:3] : (tensor<4x3xf32>) -> tensor<1x3xf32>
  // CHECK-NEXT: %[[LEFT:.*]] = "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1]]>
  // CHECK-NEXT: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:1, 0:3] : (tensor<4x3xf32>) -> tensor<1x3xf32>
  // CHECK-NEXT: %[[RIGHT:.*]] = "stablehlo.collective_permute"(%[[FIRST]]) {{.*}}source_target_pairs = dense<{{\[\[}}3, 2]]>
  // CHECK-NEXT: stablehlo.concatenate %[[LEFT]], %arg0, %[[RIGHT]], dim = 0
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<20x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %zero, low = [2, 0], high = [2, 0], interior = [0, 0] : (tensor<16x3xf32>, tensor<f32>) -> tensor<20x3xf32>
    return %0 : tensor<20x3xf32>
  }
}

// -----

// Negative padding takes away: [1, 4), [4, 7), [7, 10) and [10, 13) of tiles of 4, so at most two rows of the left neighbour.
module @negative_pad attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @negative_pad
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [2:4] : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}1, 2], [2, 3]]>
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %zero, low = [-1], high = [-3], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}

// -----

// Interior padding: 16 elements become 40 with one between neighbours. A device's tile of 10 has 5 of the operand, from [-2, 3) on.
module @interior_pad attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @interior_pad
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [3:4] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1]]>
  // CHECK-NEXT: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[FIRST]]) {{.*}}source_target_pairs = dense<{{\[\[}}3, 2]]>
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %zero, low = [4], high = [5], interior = [1] : (tensor<16xf32>, tensor<f32>) -> tensor<40xf32>
    return %0 : tensor<40xf32>
  }
}

// -----

// A slice: the same elements as with negative padding.
module @slice attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @slice
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [2:4] : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}1, 2], [2, 3]]>
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %0 = stablehlo.slice %x [1:13] : (tensor<16xf32>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}

// -----

// Every second element of [3, 27), three for each device: [3, 8), [9, 14), [15, 20) and [21, 26) of tiles of 8, so at most three of
// the left neighbour.
module @strides attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @strides
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [5:8] : (tensor<8xf32>) -> tensor<3xf32>
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}1, 2], [2, 3]]>
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %0 = stablehlo.slice %x [3:27:2] : (tensor<32xf32>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}

// -----

// The middle half: windows lie inside of others' tiles at places that differ by device. Each is sent what it wants: 500 elements and 452,
// of which the fourth device, whose window is inside of its own tile, gets none.
module @inside attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @inside
  // CHECK: %[[SENT:.*]] = stablehlo.dynamic_slice %arg0, %{{.*}}, sizes = [500] : (tensor<1024xf32>, tensor<i32>) -> tensor<500xf32>
  // CHECK-NEXT: %[[ARRIVED:.*]] = "stablehlo.collective_permute"(%[[SENT]]) {{.*}}source_target_pairs = dense<{{\[\[}}2, 1], [3, 2], [1, 0]]>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[ARRIVED]]
  // CHECK: "stablehlo.collective_permute"{{.*}}source_target_pairs = dense<{{\[\[}}2, 0]]> {{.*}} : (tensor<452xf32>)
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<2000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %0 = stablehlo.slice %x [2000:4000] : (tensor<4096xf32>) -> tensor<2000xf32>
    return %0 : tensor<2000xf32>
  }
}

// -----

// Ten elements in tiles of five become tiles of three: only the second device lacks one.
module @finer attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // CHECK-LABEL: module @finer
  // CHECK: "stablehlo.collective_permute"{{.*}}source_target_pairs = dense<{{\[\[}}{{[23]}}, 1]]> {{.*}} : (tensor<1xf32>)
  // CHECK-NOT: collective_permute
  // CHECK: return
  func.func @main(%x: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
    return %x : tensor<10xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-import-hlo-shardings -split-input-file | FileCheck %s

// Two ways to split eight devices have the axes 2 and 4 in common.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]>
// CHECK: @tiles(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_1"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
// CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"axis_0", "axis_1"}, {?}]>
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @tiles(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}) -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.custom_call @Sharding(%a) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// What is manual is returned: no region. It stays.
// CHECK: @manual(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"})
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @manual(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%a) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// No mesh has 2x3 and 3x2 devices in common: there are two. What fits the first is about that.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=3]>
// CHECK: sdy.mesh @mesh_0 = <["axis_0"=3, "axis_1"=2]>
// CHECK: @odd(%arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"}]>}, %arg1: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"axis_0"}, {"axis_1"}]>}, %arg2: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0", "axis_1"}, {}]>}, %arg3: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
module attributes {mhlo.num_partitions = 6 : i32} {
  func.func @odd(%a: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %b: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}, %c: tensor<6x6xf32> {mhlo.sharding = "{devices=[6,1]<=[6]}"}, %d: tensor<6x6xf32> {mhlo.sharding = "{replicated}"}) {
    return
  }
}

// -----

// Devices listed in orders of their own.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2], device_ids=[0, 3, 1, 2]>
// CHECK: sdy.mesh @mesh_0 = <["axis_0"=4], device_ids=[2, 0, 3, 1]>
// CHECK: @orders(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"axis_0"}, {}]>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>})
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @orders(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]0,3,1,2}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1]2,0,3,1}"}, %c: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,2]0,3,1,2 last_tile_dim_replicate}"}) {
    return
  }
}

// -----

// A manual region, fully: the constraint in front says how it is entered; constants and the number of the device come along.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK-LABEL: @whole_region(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_1"}]>}
// CHECK-NEXT: %[[SINE:.*]] = stablehlo.sine %arg0
// CHECK-NEXT: %[[OUTER:.*]] = stablehlo.broadcast_in_dim %arg1
// CHECK-NEXT: %[[OUT:.*]] = sdy.manual_computation(%[[SINE]], %[[OUTER]]) in_shardings=[<@mesh, [{"axis_0"}, {"axis_1"}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"axis_0"}, {}]>] manual_axes={"axis_0", "axis_1"} (%[[X:.*]]: tensor<4x2xf32>, %[[K:.*]]: tensor<4x2xf32>) {
// CHECK-DAG: stablehlo.partition_id
// CHECK-DAG: stablehlo.constant
// CHECK: %[[SUM:.*]] = "stablehlo.all_reduce"(%[[X]])
// CHECK: stablehlo.multiply %[[SUM]], %[[K]]
// CHECK-NOT: Sharding
// CHECK: sdy.return %{{.*}} : tensor<4x2xf32>
// CHECK-NEXT: } : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return %[[OUT]]
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @whole_region(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}, %k: tensor<f32>) -> tensor<8x2xf32> {
    %0 = stablehlo.sine %x {mhlo.sharding = "{unknown}"} : tensor<8x4xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,2]<=[4]}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<4x2xf32>
    %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %4 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<4x2xf32>
    %6 = stablehlo.partition_id : tensor<ui32>
    %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<f32>
    %8 = stablehlo.constant dense<1.0> : tensor<f32>
    %9 = stablehlo.add %7, %8 : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %11 = stablehlo.add %5, %10 : tensor<4x2xf32>
    %12 = stablehlo.custom_call @Sharding(%11) {mhlo.sharding = "{manual}"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %13 = stablehlo.custom_call @SPMDShardToFullShape(%12) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x2xf32>) -> tensor<8x2xf32>
    return %13 : tensor<8x2xf32>
  }
}

// -----

// One in another, and beside it a second one that takes what the first makes.
// CHECK-LABEL: @nested
// CHECK: %[[FIRST:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"axis_0", ?}, {?}]>] out_shardings=[<@mesh, [{"axis_0", ?}, {?}]>] manual_axes={"axis_0"} (%[[X:.*]]: tensor<4x4xf32>) {
// CHECK:   %[[IN:.*]] = sdy.manual_computation(%[[X]]) in_shardings=[<@mesh, [{}, {"axis_1"}]>] out_shardings=[<@mesh, [{}, {"axis_1"}]>] manual_axes={"axis_1"} (%[[Y:.*]]: tensor<4x2xf32>) {
// CHECK:     stablehlo.sine %[[Y]]
// CHECK:   stablehlo.cosine %[[IN]] : tensor<4x4xf32>
// CHECK: sdy.manual_computation(%[[FIRST]]) in_shardings=[<@mesh, [{}, {"axis_0"}]>] out_shardings=[<@mesh, [{}, {"axis_0"}]>] manual_axes={"axis_0", "axis_1"}
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @nested(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> tensor<8x4xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %4 = stablehlo.sine %3 : tensor<4x2xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{manual}"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %6 = stablehlo.custom_call @SPMDShardToFullShape(%5) {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}"} : (tensor<4x2xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.cosine %6 : tensor<4x4xf32>
    %8 = stablehlo.custom_call @Sharding(%7) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %9 = stablehlo.custom_call @SPMDShardToFullShape(%8) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<8x4xf32>
    %10 = stablehlo.custom_call @Sharding(%9) {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %11 = stablehlo.custom_call @SPMDFullToShardShape(%10) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<8x2xf32>
    %12 = stablehlo.negate %11 : tensor<8x2xf32>
    %13 = stablehlo.custom_call @Sharding(%12) {mhlo.sharding = "{manual}"} : (tensor<8x2xf32>) -> tensor<8x2xf32>
    %14 = stablehlo.custom_call @SPMDShardToFullShape(%13) {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x2xf32>) -> tensor<8x4xf32>
    return %14 : tensor<8x4xf32>
  }
}

// -----

// What comes out of the region goes into it again: no region. It stays.
// CHECK-LABEL: @entangled
// CHECK: @SPMDFullToShardShape
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @entangled(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %6 = stablehlo.add %1, %5 : tensor<4xf32>
    %7 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
    %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %8 : tensor<8xf32>
  }
}

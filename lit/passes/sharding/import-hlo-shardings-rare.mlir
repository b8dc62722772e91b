// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-import-hlo-shardings -split-input-file | FileCheck %s

// What one device has, on signatures and calls.
// CHECK: sdy.mesh @mesh = <["axis_0"=4]>
// CHECK-NEXT: sdy.mesh @maximal_mesh_1 = <[], device_ids=[1]>
// CHECK-NEXT: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK-LABEL: @single(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3, []>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_1, []>})
// CHECK: sdy.sharding_constraint %arg1 <@maximal_mesh_1, []>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @single(%a: tensor<8xf32> {mhlo.sharding = "{maximal device=3}"}, %b: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> (tensor<8xf32> {mhlo.sharding = "{maximal device=1}"}) {
    %0 = stablehlo.custom_call @Sharding(%b) {mhlo.sharding = "{maximal device=1}"} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A device that the program does not have: nothing changes, and the partitioner says what is wrong.
// CHECK-NOT: sdy
// CHECK-LABEL: @no_such_device
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @no_such_device(%a: tensor<8xf32> {mhlo.sharding = "{maximal device=2}"}, %b: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
    return
  }
}

// -----

// What is to be summed: along some devices, along all, along axes by name.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK-LABEL: @pending(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_1"}], unreduced={"axis_0"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"axis_0", "axis_1"}>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}], unreduced={"axis_1"}>})
// CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"axis_0"}>]>}
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @pending(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={unreduced}}"}, %b: tensor<8xf32> {mhlo.sharding = "{unreduced}"},
                     %c: tensor<8xf32> {mhlo.sharding = "{mesh['p'=2,'q'=2], [{'p'}], unreduced={'q'}}"}) {
    %0 = stablehlo.negate %a {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={unreduced, replicated}}"} : tensor<8xf32>
    return
  }
}

// -----

// A region whose calls name its manual axes.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK-LABEL: @named_region
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"axis_0"}, {}]>] out_shardings=[<@mesh, [{"axis_0"}, {}]>] manual_axes={"axis_0"} (%[[A:.*]]: tensor<4x8xf32>) {
// CHECK-NEXT: stablehlo.sine %[[A]]
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @named_region(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{mesh['p'=2,'q'=2], [{'p'}, {}]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{mesh['p'=2,'q'=2], [{}, {}], manual={'p'}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.sine %1 : tensor<4x8xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{mesh['p'=2,'q'=2], [{}, {}], manual={'p'}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{mesh['p'=2,'q'=2], [{'p'}, {}]}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
}

// -----

// Groups of arguments, results and operations' results; one that says nothing else has no sharding of its own.
// CHECK-LABEL: @groups(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}]>}, %arg1: tensor<8xf32>) -> tensor<8xf32>
// CHECK-DAG: sdy.sharding_group %arg0 group_id=1
// CHECK-DAG: sdy.sharding_group %arg1 group_id=2
// CHECK: %[[S:.*]] = stablehlo.sine %arg0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[S]] group_id=1
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_0"}]>]>}
// CHECK-NEXT: sdy.sharding_group %[[N]] group_id=2
// CHECK-NEXT: %[[A:.*]] = stablehlo.add
// CHECK-NEXT: sdy.sharding_group %[[A]] group_id=2
// CHECK-NEXT: return %[[A]]
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @groups(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2] shard_as 1}"}, %b: tensor<8xf32> {mhlo.sharding = "{unknown shard_like 2}"}) -> (tensor<8xf32> {mhlo.sharding = "{unknown shard_as 2}"}) {
    %0 = stablehlo.sine %a {mhlo.sharding = "{unknown shard_as 1}"} : tensor<8xf32>
    %1 = stablehlo.negate %b {mhlo.sharding = "{devices=[2]<=[2] shard_as 2}"} : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

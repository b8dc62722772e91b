// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-import-hlo-shardings -split-input-file | FileCheck %s

// Axes by name and tiles are about one mesh; {unknown} says nothing, and the rest is read all the same.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]>
// CHECK-NOT: sdy.mesh
// CHECK-LABEL: @named(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0", ?}, {"axis_1"}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0", "axis_1"}, {}]>}
// CHECK-SAME: %arg2: tensor<8x8xf32>,
// CHECK-SAME: %arg3: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_0", ?}], replicated={"axis_1"}>}
// CHECK-NEXT: stablehlo.sine %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"axis_1"}]>]>}
// CHECK-NEXT: return
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @named(%a: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', ?}, {'y'}]}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}, %c: tensor<8x8xf32> {mhlo.sharding = "{unknown}"}, %d: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{}, {'x', ?}], replicated={'y'}}"}) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%c) {mhlo.sharding = "{unknown}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.sine %0 {mhlo.sharding = "{mesh['x'=2,'y'=4], [{}, {'y'}]}"} : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}

// -----

// Alike, whatever they say.
// CHECK-LABEL: @alike(
// CHECK-NEXT: sdy.sharding_group %arg0 group_id=3
// CHECK-NEXT: %[[SINE:.*]] = stablehlo.sine %arg1
// CHECK-NEXT: sdy.sharding_group %[[SINE]] group_id=3
// CHECK-NEXT: %[[SAID:.*]] = sdy.sharding_constraint %[[SINE]] <@mesh, [{?}, {"axis_0"}]>
// CHECK-NEXT: return %arg0, %[[SAID]]
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @alike(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{unknown shard_as 3}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.sine %b : tensor<8x8xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[1,2]<=[2] shard_like 3}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// Of two shapes: no group. A list of devices that are not the program's: no mesh. Both stay.
// CHECK-LABEL: @shapes(%arg0: tensor<8x8xf32> {mhlo.sharding
// CHECK-NOT: sdy
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @shapes(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{unknown shard_as 3}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @Sharding(%b) {mhlo.sharding = "{unknown shard_as 3}"} : (tensor<8xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8x8xf32>, tensor<8xf32>
  }
}

// -----

// CHECK-LABEL: @devices(%arg0: tensor<8x8xf32> {mhlo.sharding
// CHECK-NOT: sdy
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @devices(%a: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2], device_ids=(1,2), [{'x'}, {}]}"}) -> tensor<8x8xf32> {
    return %a : tensor<8x8xf32>
  }
}

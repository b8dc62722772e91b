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

// Manual regions in this form stay.
// CHECK: @manual(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"})
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @manual(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%a) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// No mesh has 2x3 and 3x2 devices in common.
// CHECK: mhlo.sharding = "{devices=[2,3]<=[6]}"
// CHECK-SAME: mhlo.sharding = "{devices=[3,2]<=[6]}"
module attributes {mhlo.num_partitions = 6 : i32} {
  func.func @odd(%a: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %b: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) {
    return
  }
}

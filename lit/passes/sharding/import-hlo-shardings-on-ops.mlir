// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-import-hlo-shardings -split-input-file | FileCheck %s

// Only operations say something: a mesh comes of that, also where they say it of several results, and scalars are whole.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]>
// CHECK-LABEL: @only_operations
// CHECK: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_0", "axis_1"}, {}]>]>}
// CHECK: stablehlo.dot_general {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_0"}, {"axis_1"}]>]>}
// CHECK: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_0", "axis_1"}, {}]>, <@mesh, []>]>}
// CHECK-NOT: mhlo.sharding
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @only_operations(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<f32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) {
    %0 = stablehlo.add %x, %y {mhlo.sharding = "{devices=[8,1]<=[8]}"} : tensor<8x8xf32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2:2 = stablehlo.optimization_barrier {mhlo.sharding = "{{devices=[8,1]<=[8]}, {replicated}}"} %0, %z : tensor<8x8xf32>, tensor<f32>
    return %1, %2#0, %2#1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
  }
}

// -----

// What axes cannot say stays as it is, and the rest of the program is read all the same: a call of one device, other devices than
// the program's, a tuple of another length, manual parts without a region, scalars.
// CHECK: sdy.mesh @mesh = <["axis_0"=2]>
// CHECK-NOT: sdy.mesh
// CHECK-LABEL: @left(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}]>}
// CHECK: @callback(%arg0) {mhlo.sharding = "{maximal device=0}"}
// CHECK: stablehlo.sine %arg0 {mhlo.sharding = "{devices=[3]<=[3]}"}
// CHECK: stablehlo.cosine %arg0 {mhlo.sharding =
// CHECK: stablehlo.tanh %arg0 {mhlo.sharding = "{manual}"}
// CHECK: stablehlo.negate %arg1 {mhlo.sharding = "{replicated}"}
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @left(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}, %s: tensor<f32>) {
    %0 = stablehlo.custom_call @callback(%a) {mhlo.sharding = "{maximal device=0}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.sine %a {mhlo.sharding = "{devices=[3]<=[3]}"} : tensor<8xf32>
    %2 = stablehlo.cosine %a {mhlo.sharding = "{{devices=[2]<=[2]}, {replicated}}"} : tensor<8xf32>
    %3 = stablehlo.tanh %a {mhlo.sharding = "{manual}"} : tensor<8xf32>
    %4 = stablehlo.negate %s {mhlo.sharding = "{replicated}"} : tensor<f32>
    return
  }
}

// -----

// Nothing but strings that are left: nothing happens.
// CHECK-NOT: sdy
// CHECK-LABEL: @nothing
// CHECK: stablehlo.sine %arg0 {mhlo.sharding = "{maximal device=1}"}
// CHECK-NOT: sdy
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @nothing(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.sine %a {mhlo.sharding = "{maximal device=1}"} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

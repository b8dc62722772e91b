// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-sdy-import-shardings -split-input-file -verify-diagnostics | FileCheck %s

// All strings are about parts of the axes of one mesh; devices on their own have meshes in the order of their numbers.
// CHECK: sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=4, "_axis_2"=2]>
// CHECK-NEXT: sdy.mesh @single_device_1 = <[], device_ids=[1]>
// CHECK-NEXT: sdy.mesh @single_device_3 = <[], device_ids=[3]>
// CHECK-LABEL: @strings
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_1", "_axis_2"}, {"_axis_0"}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0", "_axis_1"}, {}]>}
// CHECK-SAME: %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@single_device_3, []>}
// CHECK-SAME: %arg3: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}
// CHECK-SAME: %arg4: !stablehlo.token {sdy.sharding = #sdy.sharding<@mesh, []>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"_axis_0", "_axis_1", "_axis_2"}>})
// CHECK: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"_axis_0"}], unreduced={"_axis_1"}>, <@mesh, [{}, {}]>]>}
// CHECK: @callback(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@single_device_1, []>]>}
// CHECK: @Sharding(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NOT: mhlo.sharding
func.func @strings(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,2]<=[2,8]T(1,0)}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1,2]<=[16] last_tile_dim_replicate}"},
                   %c: tensor<8x8xf32> {mhlo.sharding = "{maximal device=3}"}, %d: tensor<8x8xf32> {mhlo.sharding = "{unknown}"},
                   %t: !stablehlo.token {mhlo.sharding = "{replicated}"}) -> (tensor<8x8xf32> {mhlo.sharding = "{unreduced}"}) {
  %0:2 = stablehlo.optimization_barrier {mhlo.sharding = "{{devices=[1,2,4,2]<=[16] last_tile_dims={unreduced, replicated}}, {manual}}"} %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
  stablehlo.custom_call @callback(%a) {has_side_effect = true, mhlo.sharding = "{maximal device=1}"} : (tensor<8x8xf32>) -> ()
  %1 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// The mesh of the first string by name; tiles are parts of its axes.
// CHECK: sdy.mesh @mesh = <["a"=8, "b"=2]>
// CHECK-NEXT: sdy.mesh @single_device_5
// CHECK-LABEL: @names
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)4}, {"a":(4)2, "b"}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {?}], replicated={"a"}>}
// CHECK-SAME: %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@single_device_5, []>}
func.func @names(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,4]<=[16]}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{mesh['a'=8,'b'=2], [{'b'}, {?}], replicated={'a'}}"},
                 %c: tensor<8x8xf32> {mhlo.sharding = "{single_device[device_id=5]}"}) {
  return
}

// -----

// Nothing but what is everywhere: no devices are known, and nothing changes.
// CHECK-NOT: sdy
// CHECK-LABEL: @nothing(%arg0: tensor<8xf32> {mhlo.sharding = "{replicated}"})
func.func @nothing(%a: tensor<8xf32> {mhlo.sharding = "{replicated}"}) {
  return
}

// -----

// expected-error @+1 {{mhlo.sharding: no mesh says this and what was said before: {devices=[3,2]<=[6]}}}
func.func @two_meshes(%a: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %b: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) {
  return
}

// -----

func.func @too_few(%a: tensor<6xf32>) {
  // expected-error @+1 {{mhlo.sharding: expects 2 shardings, but got 1}}
  %0:2 = stablehlo.optimization_barrier {mhlo.sharding = "{devices=[2]<=[2]}"} %a, %a : tensor<6xf32>, tensor<6xf32>
  return
}

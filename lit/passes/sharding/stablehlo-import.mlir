// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-sdy-stablehlo-import-pipeline | FileCheck %s

// Calls become constraints, open where nothing is specified; constants those that nobody merges; tuples their elements.
// CHECK: sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=4]>
// CHECK-LABEL: @program(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_1"}, {"_axis_0"}]>})
// CHECK: sdy.constant {{.*}}dense<1.0
// CHECK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"_axis_0"}, {?}]>
// CHECK: %[[R:.*]]:2 = stablehlo.custom_call @f(%[[C]], %{{.*}}) : (tensor<8x8xf32>, tensor<f32>) -> (tensor<8x8xf32>, tensor<f32>)
// CHECK-NEXT: return %[[R]]#0
func.func @program(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}) -> tensor<8x8xf32> {
  %0 = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<1.0> : tensor<f32>
  %1 = stablehlo.custom_call @Sharding(%a) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.tuple %1, %0 : tuple<tensor<8x8xf32>, tensor<f32>>
  %3 = stablehlo.custom_call @f(%2) : (tuple<tensor<8x8xf32>, tensor<f32>>) -> tuple<tensor<8x8xf32>, tensor<f32>>
  %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<8x8xf32>, tensor<f32>>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

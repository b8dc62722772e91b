// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-apply-sharding-constraints | FileCheck %s
sdy.mesh @mesh = <["a"=2, "b"=2]>

// What flows through an edge is constrained before anybody uses it.
// CHECK-LABEL: @moved
// CHECK-NEXT: %[[E:.*]] = sdy.data_flow_edge %arg0 :
// CHECK-NEXT: %[[C:.*]] = sdy.sharding_constraint %[[E]] <@mesh, [{}, {"b"}]>
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[C]], %[[C]]
// CHECK-NEXT: return %[[C]], %[[S]]
func.func @moved(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.data_flow_edge %a : tensor<8x8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{}, {"b"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A manual computation asks like a constraint; what is unreduced there is so on the edge.
// CHECK-LABEL: @manual
// CHECK-NEXT: %[[E:.*]] = sdy.data_flow_edge %arg0 sharding=<@mesh, [{?}, {?}], unreduced={"b"}>
// CHECK-NEXT: %[[C:.*]] = sdy.sharding_constraint %[[E]] <@mesh, [{"a"}, {}], unreduced={"b"}>
// CHECK-NEXT: stablehlo.negate %[[C]]
// CHECK-NEXT: sdy.manual_computation(%[[C]])
func.func @manual(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.data_flow_edge %a : tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  %2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a"}, {}], unreduced={"b"}>] out_shardings=[<@mesh, [{"a"}, {}], unreduced={"b"}>] manual_axes={"a"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Two that disagree stay where they are, and so does one that is open.
// CHECK-LABEL: @disagree
// CHECK-NEXT: %[[E:.*]] = sdy.data_flow_edge %arg0
// CHECK-NEXT: stablehlo.add %[[E]], %[[E]]
func.func @disagree(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.data_flow_edge %a : tensor<8x8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{}, {"b"}]> : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  return %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

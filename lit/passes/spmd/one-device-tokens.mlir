// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-spmd-partition | FileCheck %s

// An ordered callback of JAX: one device calls, its result goes to all, tokens stay where they are.
// CHECK-LABEL: func.func @main
// CHECK: %[[HERE:.*]] = stablehlo.compare EQ
// CHECK: %[[R:.*]]:2 = "stablehlo.if"(%[[HERE]]) ({
// CHECK:   stablehlo.custom_call @count(%arg0, %{{.*}}) {has_side_effect = true}
// CHECK: }, {
// CHECK:   stablehlo.create_token
// CHECK:   stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: "stablehlo.collective_broadcast"(%[[R]]#1)
// CHECK: return %[[R]]#0,
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  sdy.mesh @mesh = <["x"=4]>
  sdy.mesh @empty_mesh = <[]>
  func.func @main(%t: !stablehlo.token, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (!stablehlo.token, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0:2 = stablehlo.custom_call @count(%t, %x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>, <@maximal_mesh_0, []>]>} : (!stablehlo.token, tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>)
    return %0#0, %0#1 : !stablehlo.token, tensor<8xf32>
  }

  // JAX 0.8 calls the token replicated.
  // CHECK-LABEL: func.func @replicated_token
  // CHECK: %[[HERE:.*]] = stablehlo.compare EQ
  // CHECK: "stablehlo.if"(%[[HERE]])
  // CHECK: "stablehlo.collective_broadcast"
  func.func @replicated_token(%t: !stablehlo.token, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (!stablehlo.token, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0:2 = stablehlo.custom_call @count(%t, %x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@empty_mesh, []>, <@maximal_mesh_0, []>]>} : (!stablehlo.token, tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>)
    return %0#0, %0#1 : !stablehlo.token, tensor<8xf32>
  }
}

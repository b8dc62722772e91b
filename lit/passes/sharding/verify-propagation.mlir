// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What propagation must not leave behind, each once; the last program is what it does leave behind.
// RUN: not xla-opt %s -split-input-file -xla-verify-propagation 2>&1 | FileCheck %s
// RUN: xla-opt %s -split-input-file -sdy-propagation-pipeline -xla-verify-propagation > %t

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @left(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: verify-propagation.mlir:[[@LINE+1]]:{{.*}}error: 'sdy.data_flow_edge' op expects to be gone after propagation
  %0 = sdy.data_flow_edge %a : tensor<8xf32>
  // CHECK: error: 'sdy.sharding_constraint' op expects to be gone after propagation
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK: error: 'sdy.sharding_group' op expects to be gone after propagation
  sdy.sharding_group %1 group_id=0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-DAG: verify-propagation.mlir:[[@LINE+1]]:{{.*}}error: 'func.func' op argument 1: expects closed dimensions after propagation, but dimension 0 of {{.*}}{"x", ?}{{.*}} is open
func.func @open(%a: tensor<8xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<8xf32> {
  // CHECK-DAG: error: 'stablehlo.add' op expects no priorities after propagation, but dimension 0 of {{.*}} has 1
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}p1]>]>} : tensor<8xf32>
  // CHECK-DAG: error: 'sdy.reshard' op expects the name of a mesh after propagation, but got a mesh in place:
  %1 = sdy.reshard %0 <mesh<["x"=2, "y"=2]>, [{"y"}]> : tensor<8xf32>
  // CHECK-DAG: error: 'stablehlo.optimization_barrier' op result 1: expects closed dimensions after propagation, but dimension 0
  %2:2 = "stablehlo.optimization_barrier"(%0, %1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{?}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %2#0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-NOT: error
func.func @right(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

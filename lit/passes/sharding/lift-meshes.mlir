// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-lift-inlined-meshes | FileCheck %s

// New meshes stand behind those that are there, and may have the names of equals that are gone.
// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["x"=8]>
// CHECK-NEXT: sdy.mesh @maximal_mesh_2 = <[], device_ids=[2]>
// CHECK-NEXT: func
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @mesh_0 = <["x"=2, "y"=4]>

// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"x"}]>}
// CHECK-SAME: %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_2, []>}
func.func @lifted(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"y"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=8]>, [{"x"}]>}, %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[2]>, []>}) {
  return
}

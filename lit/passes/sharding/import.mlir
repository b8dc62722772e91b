// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-lift-inlined-meshes -split-input-file | FileCheck %s --check-prefix=LIFT
// RUN: xla-opt %s -sdy-remove-size-one-axes -split-input-file | FileCheck %s --check-prefix=ONE
// RUN: xla-opt %s -sdy-constant-or-scalar-splitter -split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: xla-opt %s -sdy-manual-axes-cleanup -split-input-file | FileCheck %s --check-prefix=MANUAL
// RUN: xla-opt %s -sdy-add-data-flow-edges -split-input-file | FileCheck %s --check-prefix=EDGES
// RUN: xla-opt %s -sdy-apply-sharding-constraints -split-input-file | FileCheck %s --check-prefix=APPLY
// RUN: xla-opt %s -sdy-sharding-group-import -split-input-file | FileCheck %s --check-prefix=GROUP
// RUN: xla-opt %s -sdy-sharding-group-import -split-input-file 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: xla-opt %s -sdy-import-func-calls -split-input-file | FileCheck %s --check-prefixes=CALLS,CALL-EDGES
// RUN: xla-opt %s -sdy-import-func-calls=add-data-flow-edges-on-named-computations=false -split-input-file | FileCheck %s --check-prefixes=CALLS,NO-EDGES

// Meshes inside of shardings get names; one that has a name already keeps it.
// LIFT: sdy.mesh @mesh = <["x"=2, "y"=1]>
// LIFT: sdy.mesh @mesh_0 = <["x"=4]>
// LIFT: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// LIFT: @meshes(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"x"}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3, []>})
// Axes of one device go from shardings, not from the mesh.
// ONE: sdy.mesh @mesh = <["x"=2, "y"=1]>
sdy.mesh @mesh = <["x"=2, "y"=1]>
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "y"=1]>, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4]>, [{"x"}]>}, %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>}) {
  return
}
// ONE: @axes(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
func.func @axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  return
}

// -----

// Each use gets what it is made of; what depends on an argument is shared, but not the broadcast of a scalar.
// SPLIT-LABEL: @constants
// SPLIT-DAG: %[[C0:.*]] = sdy.constant dense<1.0
// SPLIT-DAG: %[[N0:.*]] = stablehlo.negate %[[C0]]
// SPLIT-DAG: %[[C1:.*]] = sdy.constant dense<1.0
// SPLIT-DAG: %[[N1:.*]] = stablehlo.negate %[[C1]]
// SPLIT-DAG: %[[B0:.*]] = stablehlo.broadcast_in_dim %arg1
// SPLIT-DAG: %[[B1:.*]] = stablehlo.broadcast_in_dim %arg1
// SPLIT-DAG: %[[S:.*]] = stablehlo.sine %arg0
// SPLIT: stablehlo.add %[[S]], %[[N0]]
// SPLIT: stablehlo.multiply %[[S]], %[[N1]]
// SPLIT: stablehlo.add %{{.*}}, %[[B0]]
// SPLIT: stablehlo.multiply %{{.*}}, %[[B1]]
func.func @constants(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %n = stablehlo.negate %c : tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.sine %x : tensor<8xf32>
  %1 = stablehlo.add %0, %n : tensor<8xf32>
  %2 = stablehlo.multiply %0, %n : tensor<8xf32>
  %3 = stablehlo.add %1, %b : tensor<8xf32>
  %4 = stablehlo.multiply %2, %b : tensor<8xf32>
  %5 = stablehlo.add %3, %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
// An axis that splits nothing is replicated, and axes come in the order of the mesh. Edges go in and out.
// MANUAL-LABEL: @manual
// MANUAL: in_shardings=[<@mesh, [{"b"}], replicated={"a"}>] out_shardings=[<@mesh, [{"b"}], replicated={"a"}>] manual_axes={"a", "b"}
// EDGES-LABEL: @manual
// EDGES: sdy.manual_computation
// EDGES-NEXT: %[[IN:.*]] = sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{}]> : tensor<4xf32>
// EDGES-NEXT: stablehlo.negate %[[IN]]
// EDGES: %[[OUT:.*]] = sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"b"}]> : tensor<8xf32>
// EDGES-NEXT: return %[[OUT]]
func.func @manual(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}]>] out_shardings=[<@mesh, [{"b"}]>] manual_axes={"b", "a"} (%y: tensor<4xf32>) {
    %1 = stablehlo.negate %y : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A loop has an edge per result; scalars have one, too, and tokens none.
// EDGES-LABEL: @loop
// EDGES: %[[R:.*]]:2 = stablehlo.while
// EDGES: %[[E0:.*]] = sdy.data_flow_edge %[[R]]#0 : tensor<8xf32>
// EDGES: %[[E1:.*]] = sdy.data_flow_edge %[[R]]#1 : tensor<i32>
// EDGES: return %[[E0]]
func.func @loop(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %1, %i : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}

// A closed constraint speaks for its input; an open one does not.
// APPLY-LABEL: @constraints
// APPLY: %[[A:.*]] = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
// APPLY: sdy.sharding_constraint %[[A]] <@mesh, [{"a"}]>
// APPLY: %[[B:.*]] = stablehlo.sine %[[A]] : tensor<8xf32>
// APPLY: sdy.sharding_constraint %[[B]] <@mesh, [{"b", ?}]>
func.func @constraints(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %x : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}]> : tensor<8xf32>
  %2 = stablehlo.sine %0 : tensor<8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"b", ?}]> : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Of two in a row the last holds for what comes later, but not for what is returned; nor where the value had a sharding of its own.
// APPLY-LABEL: @chain
// APPLY: %[[A:.*]] = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
// APPLY: %[[FIRST:.*]] = sdy.sharding_constraint %[[A]] <@mesh, [{"a"}]>
// APPLY: stablehlo.cosine %[[A]]
// APPLY: %[[LAST:.*]] = sdy.sharding_constraint %[[FIRST]] <@mesh, [{"b"}]>
// APPLY: %[[SINE:.*]] = stablehlo.sine %[[LAST]]
// APPLY: %[[OWN:.*]] = stablehlo.negate %arg0 {sdy.sharding
// APPLY: %[[LATER:.*]] = stablehlo.sine %[[OWN]]
// APPLY: return %[[A]], %{{.*}}, %[[SINE]], %[[LATER]]
func.func @chain(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %x : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}]> : tensor<8xf32>
  %2 = stablehlo.cosine %0 : tensor<8xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"b"}]> : tensor<8xf32>
  %4 = stablehlo.sine %0 : tensor<8xf32>
  %5 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  %6 = sdy.sharding_constraint %5 <@mesh, [{"a"}]> : tensor<8xf32>
  %7 = sdy.sharding_constraint %6 <@mesh, [{"b"}]> : tensor<8xf32>
  %8 = stablehlo.sine %5 : tensor<8xf32>
  return %0, %2, %4, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// 7 and 4 share %arg1, so they are one; numbers start from 0.
// GROUP-LABEL: @groups
// GROUP-NEXT: sdy.sharding_group %arg0 group_id=0
// GROUP-NEXT: sdy.sharding_group %arg1 group_id=0
// GROUP-NEXT: sdy.sharding_group %arg2 group_id=1
// GROUP-NEXT: return
func.func @groups(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %b group_id=7 : tensor<8xf32>
  sdy.sharding_group %b group_id=4 : tensor<8xf32>
  sdy.sharding_group %c group_id=2 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
// CALLS-LABEL: @calls
// CALLS: sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"a"}]>] (%arg1: tensor<8xf32>) {
// CALL-EDGES-NEXT: %[[IN:.*]] = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"a"}]>
// CALL-EDGES-NEXT: stablehlo.negate %[[IN]]
// NO-EDGES-NEXT: stablehlo.negate %arg1
// CALLS-NOT: func.func private
func.func @calls(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Different shardings in a group: a warning, and the members begin behind what is annotated. Inside of @inner, a member is where
// the function is called.
sdy.mesh @mesh = <["a"=2, "b"=2]>
// GROUP-LABEL: @disagree
// GROUP: sdy.manual_computation
// GROUP-NEXT: %[[Y:.*]] = sdy.sharding_constraint %arg3 <@mesh, [{?}]>
// GROUP-NEXT: %[[X:.*]] = sdy.sharding_constraint %arg2 <@mesh, [{?}]>
// GROUP-NEXT: sdy.sharding_group %[[X]] group_id=0
// GROUP-NEXT: sdy.sharding_group %[[Y]] group_id=0
func.func @disagree(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"b"}]>] out_shardings=[<@mesh, [{"b"}]>] manual_axes={} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    sdy.sharding_group %p group_id=5 : tensor<8xf32>
    // WARN: [[@LINE+1]]:5: warning: Inconsistent shardings prior to propagation for ShardingGroupOps with canonicalized groupId: 0
    sdy.sharding_group %q group_id=5 : tensor<8xf32>
    %1 = func.call @inner(%q) : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @inner(%x: tensor<8xf32>) -> tensor<8xf32> {
  sdy.sharding_group %x group_id=5 : tensor<8xf32>
  return %x : tensor<8xf32>
}

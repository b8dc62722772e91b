// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-sink-data-flow-edges -split-input-file | FileCheck %s --check-prefix=SINK
// RUN: xla-opt %s -sdy-close-shardings -sdy-sharding-constraint-to-reshard -sdy-remove-sharding-groups -split-input-file | FileCheck %s --check-prefix=CLOSE
// RUN: xla-opt %s -sdy-update-non-divisible-input-output-shardings -split-input-file | FileCheck %s --check-prefix=EVEN
// RUN: xla-opt %s -sdy-remove-sub-axes-in-input-output-shardings -split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: xla-opt %s -sdy-constant-or-scalar-merger -split-input-file | FileCheck %s --check-prefix=MERGE
// RUN: xla-opt %s -sdy-drop-sharding-rules -split-input-file | FileCheck %s --check-prefix=DROP
// RUN: xla-opt %s -sdy-export-named-computations -split-input-file | FileCheck %s --check-prefix=NAMED

sdy.mesh @mesh = <["a"=2, "b"=4]>
// The edge's sharding goes to the loop's result; into a manual computation the manual axis comes first again.
// SINK-LABEL: @edges
// SINK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", "b", ?}]>]
// SINK-NOT: data_flow_edge
// SINK: stablehlo.optimization_barrier {{.*}}{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", ?}]>]>}
func.func @edges(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", ?}]>] out_shardings=[<@mesh, [{"a", ?}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@mesh, [{"b", ?}]> : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  %3 = stablehlo.optimization_barrier %0 : tensor<16xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@mesh, [{"b", ?}]> : tensor<16xf32>
  return %4 : tensor<16xf32>
}
// Only one result has an edge with a sharding: what the others had is gone.
// SINK-LABEL: @one_edge
// SINK: stablehlo.optimization_barrier {{.*}}{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"a"}]>, <@mesh, [{?}]>]>}
func.func @one_edge(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0:3 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>, <@mesh, [{?}]>, <@mesh, [{"b", ?}]>]>}
      %x, %x, %x : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  %1 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"a"}]> : tensor<16xf32>
  %2 = sdy.data_flow_edge %0#2 : tensor<16xf32>
  return %0#0, %1, %2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// Priorities of dimensions with axes stay.
// CLOSE-LABEL: @close(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p2, {}]>})
// CLOSE-NOT: sharding_group
// CLOSE: sdy.reshard %arg0 <@mesh, [{"b"}, {}]>
func.func @close(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p2, {?}], replicated={"b"}>}) -> tensor<8x8xf32> {
  sdy.sharding_group %x group_id=1 : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"b", ?}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Of 6 rows 2 devices of "a" get 3 each; of "b" half fits the columns.
// EVEN-LABEL: @even(%arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b":(1)2}]>}) -> (tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
// WHOLE-LABEL: @even(%arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>})
func.func @even(%x: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Closed dimensions are the user's.
// WHOLE-LABEL: @parts(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b":(2)2}]>})
func.func @parts(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b":(1)2, ?}, {"b":(2)2}]>}) {
  return
}

// Equal shardings and values: one constant.
// MERGE-LABEL: @merge
// MERGE-COUNT-2: sdy.constant
// MERGE-NOT: sdy.constant
// MERGE: return
func.func @merge() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} dense<1.0> : tensor<8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} dense<1.0> : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// DROP-LABEL: @rules
// DROP-NOT: sharding_rule
// DROP: return
func.func @rules(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// NAMED-LABEL: @named
// NAMED: call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
// NAMED: func.func private @f(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
func.func @named(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"f">(%x) out_shardings=[<@mesh, [{"a"}]>] (%y: tensor<8xf32>) {
    %1 = stablehlo.negate %y : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

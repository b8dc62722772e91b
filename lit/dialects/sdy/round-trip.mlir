// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All operations and attributes in the text that Shardy prints; test/e2e/test_sdy_vs_jaxlib.py asks jaxlib's copy.
// RUN: xla-opt %s | xla-opt | FileCheck %s
// The same through bytecode, where every attribute has its own code.
// RUN: xla-opt %s --emit-bytecode | xla-opt | FileCheck %s

// CHECK: sdy.mesh @empty = <[]>
// CHECK: sdy.mesh @single = <[], device_ids=[3]>
// CHECK: sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>
// CHECK: sdy.mesh @in_order = <["a"=2, "b"=2]>{{$}}
// CHECK: sdy.mesh @permuted = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]> {stablehlo.mesh = "kept"}
sdy.mesh @empty = <[]>
sdy.mesh @single = <[], device_ids=[3]>
sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>
sdy.mesh @in_order = <["a"=2, "b"=2], device_ids=[0, 1, 2, 3]>
sdy.mesh @permuted = <["a"=2, "b"=2], device_ids=[0,2,1,3]> {stablehlo.mesh = "kept"}

// CHECK-LABEL: @shardings
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {"b":(1)2}], replicated={"c"}>}
// CHECK-SAME: (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{}, {?}p2]>})
func.func @shardings(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a",?}p1, {"b":(1)2}], replicated={"c"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{}, {?}p2]>}) {
  // Lists in any order; printed in one.
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"c"}, {?}], replicated={"b"}, unreduced={"a"}> : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"c"}, {?}], unreduced={"a"}, replicated={"b"}> : tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}], unreduced=max{"a", "b":(2)2}> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{}, {}], unreduced=max{"a", "b":(2)2}> : tensor<8x8xf32>
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{}, {}], unreduced=min{"a"}> : tensor<8x8xf32>
  %2 = sdy.reshard %arg0 <@mesh, [{}, {}], unreduced=min{"a"}> : tensor<8x8xf32>
  // CHECK: sdy.sharding_group %{{.*}} group_id=5 : tensor<8x8xf32>
  sdy.sharding_group %2 group_id=5 : tensor<8x8xf32>
  // CHECK: sdy.constant dense<1.000000e+00> : tensor<8x8xf32>
  %3 = sdy.constant dense<1.0> : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=FORWARD : tensor<8x8xf32>
  %4 = sdy.propagation_barrier %3 allowed_direction=FORWARD : tensor<8x8xf32>
  // CHECK: sdy.func_data_flow_edge %{{.*}} : tensor<8x8xf32>
  %5 = call @callee(%4) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = sdy.func_data_flow_edge %5 : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
func.func private @callee(tensor<8x8xf32>) -> tensor<8x8xf32>

// CHECK-LABEL: @collectives
func.func @collectives(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.all_slice [{"a", "b"}, {}] %arg0 out_sharding=<@mesh, [{"a", "b"}, {}]> : tensor<8x8xf32>
  %0 = sdy.all_slice [{"a", "b"}, {}] %arg0 out_sharding=<@mesh, [{"a", "b"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.all_to_all [{"b":(2)2}: 0->1] %0 out_sharding=<@mesh, [{"a", "b":(1)2}, {"b":(2)2}]> : tensor<8x8xf32>
  %1 = sdy.all_to_all [{"b":(2)2}: 0->1] %0 out_sharding=<@mesh, [{"a", "b":(1)2}, {"b":(2)2}]> : tensor<8x8xf32>
  // CHECK: sdy.all_gather [{"b":(1)2}, {"b":(2)2}] %1 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_gather [{"b":(1)2}, {"b":(2)2}] %1 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.collective_permute %2 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.all_reduce {"a"} %3 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  %4 = sdy.all_reduce {"a"} %3 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.reduce_scatter [{"a"}, {}] %4 out_sharding=<@mesh, [{"c", "a"}, {}]> : tensor<8x8xf32>
  %5 = sdy.reduce_scatter [{"a"}, {}] %4 out_sharding=<@mesh, [{"c", "a"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"b"} %5 out_sharding=<@mesh, [{"c", "a"}, {}], unreduced={"b"}> : tensor<8x8xf32>
  %6 = sdy.replicated_to_unreduced {"b"} %5 out_sharding=<@mesh, [{"c", "a"}, {}], unreduced={"b"}> : tensor<8x8xf32>
  // CHECK: sdy.sharded_to_unreduced [{"a"}, {}] %6 out_sharding=<@mesh, [{"c"}, {}], unreduced={"a", "b"}> : tensor<8x8xf32>
  %7 = sdy.sharded_to_unreduced [{"a"}, {}] %6 out_sharding=<@mesh, [{"c"}, {}], unreduced={"a", "b"}> : tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

// CHECK-LABEL: @regions
func.func @regions(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
  // CHECK-NEXT: sdy.return %arg1 : tensor<4x8xf32>
  // CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {}]>]
      manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT: sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  // CHECK: %1 = sdy.named_computation<"f">(%0) (%arg1: tensor<8x8xf32>) {
  %1 = sdy.named_computation<"f">(%0) (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %2 = sdy.named_computation<"g">(%1) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] (%arg1: tensor<8x8xf32>) {
  %2 = sdy.named_computation<"g">(%1) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %2 sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %3 = sdy.data_flow_edge %2 sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// What JAX puts on its LAPACK calls.
// CHECK-LABEL: @rules
func.func @rules(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>
  %0 = stablehlo.custom_call @f(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK-LABEL: @attributes
// CHECK-SAME: a = #sdy<manual_axes{"a"}>, b = #sdy<axis_ref"a":(1)2>, c = #sdy<dimension_sharding{"a", ?}p1>
// CHECK-SAME: d = #sdy<list_of_axis_ref_lists[{"a"}, {}]>, e = #sdy.sharding_per_value<[<@m, []>, <@m, [{}]>]>
// CHECK-SAME: f = #sdy<tensor_mapping[i, jk]>, g = #sdy<all_to_all_param_list[{"a"}: 0->1, {"b"}: 2->3]>
// CHECK-SAME: h = #sdy<sub_axis_info(1)2>, i = #sdy<mesh_axis"a"=2>, j = #sdy<axis_ref_list{"a", "b"}>
// CHECK-SAME: k = #sdy.op_sharding_rule<([ij, kl])->([i, jk, m]) {i=4, j=2, k=1, l=8, m=4} reduction={l} need_replication={m} permutation={i} blocked_propagation={i, j}>
// CHECK-SAME: l = #sdy.op_sharding_rule<([zz_1z_12, *])->([])>
func.func private @attributes() attributes {test.all = {
  a = #sdy<manual_axes{"a"}>, b = #sdy<axis_ref"a":(1)2>, c = #sdy<dimension_sharding{"a",?}p1>,
  d = #sdy<list_of_axis_ref_lists[{"a"}, {}]>, e = #sdy.sharding_per_value<[<@m, []>, <@m, [{}]>]>,
  f = #sdy<tensor_mapping[i, jk]>, g = #sdy<all_to_all_param_list[{"a"}: 0->1, {"b"}: 2->3]>,
  h = #sdy<sub_axis_info(1)2>, i = #sdy<mesh_axis"a"=2>, j = #sdy<axis_ref_list{"a", "b"}>,
  k = #sdy.op_sharding_rule<([ij,kl])->([i,jk,m]) {i=4,j=2,k=1,l=8,m=4} reduction={l} need_replication={m} permutation={i} blocked_propagation={i,j}>,
  l = #sdy.op_sharding_rule<([zz_1z_12, *])->([])>}}

// CHECK-LABEL: @extremes
func.func @extremes(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {}]>}) {
  // CHECK: sdy.all_reduce max {"b"} %arg0 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  %greatest = sdy.all_reduce max {"b"} %x out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.all_reduce {"b"} %arg0 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  %sum = sdy.all_reduce sum {"b"} %x out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.reduce_scatter min [{"a"}, {}] %arg0 out_sharding=<@mesh, [{"c", "a"}, {}]> : tensor<8x8xf32>
  %least = sdy.reduce_scatter min [{"a"}, {}] %x out_sharding=<@mesh, [{"c", "a"}, {}]> : tensor<8x8xf32>
  return
}

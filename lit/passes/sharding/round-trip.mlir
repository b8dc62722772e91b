// sdy as text in frontend attributes and as custom calls, which HLO keeps, and back.
// RUN: xla-opt %s -split-input-file -xla-sdy-round-trip-export-pipeline | FileCheck %s --check-prefix=OUT
// RUN: xla-opt %s -split-input-file -xla-sdy-round-trip-export-pipeline -o - | xla-opt -split-input-file -xla-sdy-round-trip-import-pipeline | FileCheck %s --check-prefix=BACK
// RUN: xla-opt %s -split-input-file -xla-sdy-round-trip-testing-pipeline | FileCheck %s --check-prefix=BACK

// Of two meshes over the same devices the one with more axes stays.
// OUT: module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{one = #sdy.mesh<[], device_ids=[3]>, two = #sdy.mesh<[\22a\22=2, \22b\22=4]>}"}}
// OUT-NOT: sdy.mesh @
// BACK-DAG: sdy.mesh @two = <["a"=2, "b"=4]>
// BACK-DAG: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @flat = <["x"=8]>
sdy.mesh @two = <["a"=2, "b"=4]>
sdy.mesh @one = <[], device_ids=[3]>

// Arguments hold the text themselves, results a call before they are returned: HLO has no attributes at results.
// OUT-LABEL: func.func @signature
// OUT-SAME: %arg0: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@two, [{\22b\22}p1, {?}]>"}, mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
// OUT-SAME: -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"})
// OUT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0 : tensor<8x8xf32>
// OUT: stablehlo.custom_call @xla.sdy.FuncResultSharding(%[[SUM]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@two, [{\22a\22, ?}, {}]>]>"}}
// BACK-LABEL: func.func @signature
// BACK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@two, [{"b"}p1, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@two, [{"a", ?}, {}]>})
// BACK-NEXT: %[[SUM:.*]] = stablehlo.add
// BACK-NEXT: return %[[SUM]]
func.func @signature(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@two, [{"b"}p1, {?}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@two, [{"a", ?}, {}]>}) {
  %0 = stablehlo.add %x, %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// One axis is two of the other mesh, parts of it parts of those.
// OUT-LABEL: func.func @other_mesh
// OUT-SAME: #sdy.sharding<@two, [{\22a\22, \22b\22}]>
// OUT-SAME: #sdy.sharding<@two, [{\22b\22:(1)2}]>
// BACK-LABEL: func.func @other_mesh
func.func @other_mesh(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@flat, [{"x"}]>},
                      %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@flat, [{"x":(2)2}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// OUT-LABEL: func.func @marks
// OUT: stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@two, [{\22b\22, ?}]>]>"}, mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
// OUT: stablehlo.custom_call @xla.sdy.ShardingGroup({{.*}}) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : i64"}}
// OUT: stablehlo.custom_call @xla.sdy.PropagationBarrier({{.*}}) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}}
// OUT: stablehlo.constant dense<2.000000e+00>
// OUT: stablehlo.custom_call @mine({{.*}}) {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i])->([i]) {i=8}>"}}
// BACK-LABEL: func.func @marks
// BACK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@two, [{"b", ?}]>
// BACK: sdy.sharding_group %[[C]] group_id=7
// BACK: sdy.propagation_barrier %[[C]] allowed_direction=FORWARD
// BACK: sdy.constant dense<2.000000e+00>
// BACK: stablehlo.custom_call @mine({{.*}}) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>}
func.func @marks(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %x <@two, [{"b", ?}]> : tensor<8xf32>
  sdy.sharding_group %0 group_id=7 : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>
  %2 = sdy.constant dense<2.0> : tensor<8xf32>
  %3 = stablehlo.custom_call @mine(%1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = stablehlo.add %3, %2 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// What propagation decided is written, too, but only read where users annotate.
// OUT-LABEL: func.func @decided
// OUT: stablehlo.sine %arg0 {mhlo.frontend_attributes = {xla.sdy.sharding = {{.*}}}, mhlo.sharding = "{maximal device=3}"}
// BACK-LABEL: func.func @decided
// BACK: stablehlo.sine %arg0 : tensor<8xf32>
func.func @decided(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.sine %x {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A manual computation, and one inside of it, are functions of their own.
// OUT-LABEL: func.func @nested
// OUT: %[[IN:.*]] = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@two, [{\22a\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>"}} : (tensor<4x8xf32>) -> tensor<2x8xf32>
// OUT: %[[BODY:.*]] = call @xla.sdy.manual_computation_body_0(%[[IN]]) : (tensor<2x8xf32>) -> tensor<2x8xf32>
// OUT: stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%[[BODY]]) {mhlo.frontend_attributes = {xla.sdy.manual_axes = {{.*}}, xla.sdy.out_shardings = {{.*}}}} : (tensor<2x8xf32>) -> tensor<4x8xf32>
// OUT: func.func @xla.sdy.manual_computation_body(%arg0: tensor<2x2xf32>)
// OUT: func.func @xla.sdy.manual_computation_body_0(%arg0: tensor<2x8xf32>)
// OUT: call @xla.sdy.manual_computation_body(
// BACK-LABEL: func.func @nested
// BACK: sdy.manual_computation(%arg0) in_shardings=[<@two, [{"a"}, {}]>] out_shardings=[<@two, [{"a"}, {}]>] manual_axes={"a"} (%[[A:.*]]: tensor<2x8xf32>) {
// BACK-NEXT: sdy.manual_computation(%[[A]]) in_shardings=[<@two, [{}, {"b"}]>] out_shardings=[<@two, [{}, {"b"}]>] manual_axes={"b"} (%[[B:.*]]: tensor<2x2xf32>) {
// BACK-NEXT: stablehlo.sine %[[B]]
// BACK-NOT: manual_computation_body
func.func @nested(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@two, [{"a"}, {}]>] out_shardings=[<@two, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<2x8xf32>) {
    %1 = sdy.manual_computation(%y) in_shardings=[<@two, [{}, {"b"}]>] out_shardings=[<@two, [{}, {"b"}]>] manual_axes={"b"} (%z: tensor<2x2xf32>) {
      %2 = stablehlo.sine %z : tensor<2x2xf32>
      sdy.return %2 : tensor<2x2xf32>
    } : (tensor<2x8xf32>) -> tensor<2x8xf32>
    sdy.return %1 : tensor<2x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Nothing of sdy: nothing happens.
// OUT-LABEL: func.func @strings
// OUT-SAME: mhlo.sharding = "{devices=[2,1]<=[2]}"
// OUT-NOT: xla.sdy
// BACK-LABEL: func.func @strings
func.func @strings(%x: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

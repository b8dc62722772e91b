// sdy as mhlo.sharding strings: manual axes become groups of devices.
// RUN: xla-opt %s -xla-sdy-stablehlo-export-pipeline | FileCheck %s
// RUN: xla-opt %s -xla-sdy-stablehlo-export-pipeline=enable-hlo-sharding-v3=true | FileCheck %s --check-prefix=V3
// V3: tensor<8x8xf32> {mhlo.sharding = "{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a'}, {}]}"}
// V3: {mhlo.sharding = "{mesh['a'=2,'b'=2,'c'=2], [{}, {'a', 'b'}]}"}
// V3: {mhlo.sharding = "{mesh['a'=2,'b'=2,'c'=2], replicated}"} dense<1.000000e+00>
// V3: @SPMDFullToShardShape({{.*}}) {mhlo.sharding = "{mesh['a'=2,'b'=2,'c'=2], [], manual={'a'}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
// V3: @SPMDFullToShardShape({{.*}}) {mhlo.sharding = "{mesh['a'=2,'b'=2,'c'=2], manual}"} : (tensor<4x8xf32>) -> tensor<4x2xf32>

// CHECK-NOT: sdy.mesh
sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
sdy.mesh @listed = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>

// CHECK-LABEL: func.func @marks
// CHECK-SAME: %arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}"}
// CHECK: %[[C:.*]] = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[1,4,2]<=[8] last_tile_dim_replicate}"}
// CHECK: %[[G:.*]] = stablehlo.custom_call @Sharding(%[[C]]) {mhlo.sharding = "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"}
// CHECK: %[[K:.*]] = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<1.000000e+00>
// CHECK: stablehlo.custom_call @mhlo.erf(%[[G]]) {mhlo.attributes = {mhlo.sharding = "{replicated}", mhlo.version = 1 : i64}}
// CHECK: stablehlo.add
func.func @marks(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@listed, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {"a", "b"}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{}, {"b"}] %0 out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} dense<1.0> : tensor<8x8xf32>
  %3 = stablehlo.custom_call @mhlo.erf(%1) {mhlo.attributes = {mhlo.version = 1 : i64}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.add %2, %3 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @manual
// CHECK: %[[IN:.*]] = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
// CHECK: %[[LOCAL:.*]] = stablehlo.custom_call @SPMDFullToShardShape(%[[IN]]) {mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[SIN:.*]] = stablehlo.sine %[[LOCAL]] {mhlo.sharding = "{devices=[1,2,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={manual, replicated}}"}
// CHECK: %[[COS:.*]] = stablehlo.cosine %[[SIN]] {mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"}
// CHECK: %[[INNER:.*]] = stablehlo.custom_call @Sharding(%[[COS]])
// CHECK: %[[ALL:.*]] = stablehlo.custom_call @SPMDFullToShardShape(%[[INNER]]) {mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<4x2xf32>
// CHECK: %[[TAN:.*]] = stablehlo.tanh %[[ALL]] {mhlo.sharding = "{manual}"}
// CHECK: %[[LEFT:.*]] = stablehlo.custom_call @Sharding(%[[TAN]]) {mhlo.sharding = "{manual}"}
// CHECK: stablehlo.custom_call @SPMDShardToFullShape(%[[LEFT]]) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"} : (tensor<4x2xf32>) -> tensor<4x8xf32>
// CHECK: stablehlo.custom_call @SPMDShardToFullShape({{.*}}) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
func.func @manual(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<4x8xf32>) {
    %1 = stablehlo.sine %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>} : tensor<4x8xf32>
    %2 = stablehlo.cosine %1 : tensor<4x8xf32>
    %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{}, {"b", "c"}]>] out_shardings=[<@mesh, [{}, {"b", "c"}]>] manual_axes={"b", "c"} (%z: tensor<4x2xf32>) {
      %4 = stablehlo.tanh %z : tensor<4x2xf32>
      sdy.return %4 : tensor<4x2xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %3 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

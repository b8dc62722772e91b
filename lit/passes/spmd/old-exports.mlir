// JAX's exports of 2024 and 2025 say shardings as text: they propagate like any others, into manual computations, too.
// RUN: xla-compile %s --emit=sharded | FileCheck %s --check-prefix=SHARDED
// RUN: xla-compile %s --emit=partitioned | FileCheck %s

// SHARDED: sdy.mesh @mesh = <["a"=2, "b"=2]>
// SHARDED: stablehlo.dot_general {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>
// SHARDED: sdy.manual_computation
// SHARDED: stablehlo.sine {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>
// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
// CHECK: stablehlo.sine {{.*}} : tensor<4x4xf32>
module attributes {mhlo.num_partitions = 4 : i32, mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22a\22=2, \22b\22=2]>}"}} {
  func.func public @main(%x: tensor<8x16xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22a\22}, {}]>"}},
                         %w: tensor<16x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{}, {\22b\22}]>"}}) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {?}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>"}} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = call @xla.sdy.manual_computation_body(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {?}]>]>"}} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
  func.func private @xla.sdy.manual_computation_body(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.sine %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

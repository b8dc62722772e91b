// Shardings over axes of a mesh become tiles.
// RUN: xla-translate %s --stablehlo-to-hlo-text | FileCheck %s
// CHECK: num_partitions=4
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: Arg_0.1 = f32[4,2]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}
  func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    // CHECK: add.1 = f32[4,2]{1,0} add(Arg_0.1, Arg_0.1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {}]>]>} : tensor<4x2xf32>
    // CHECK: custom-call.1 = f32[4,2]{1,0} custom-call(add.1), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]> : tensor<4x2xf32>
    // CHECK: ROOT {{.*}}, sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    return %1 : tensor<4x2xf32>
  }
}

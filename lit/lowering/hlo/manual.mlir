// A manual computation stands between custom calls that change shapes, manual axes are groups of devices.
// RUN: xla-translate %s --stablehlo-to-hlo-text | FileCheck %s
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: custom-call.1 = f32[4,2]{1,0} custom-call(Arg_0.1), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  // CHECK: custom-call.2 = f32[2,2]{1,0} custom-call(custom-call.1), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  // CHECK: sine.1 = f32[2,2]{1,0} sine(custom-call.2), sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  // CHECK: custom-call.4 = f32[4,2]{1,0} custom-call({{.*}}), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  func.func @main(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x2xf32>) {
      %1 = stablehlo.sine %b : tensor<2x2xf32>
      sdy.return %1 : tensor<2x2xf32>
    } : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}

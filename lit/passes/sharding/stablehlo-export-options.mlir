// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-sdy-stablehlo-export-pipeline | FileCheck %s
// RUN: xla-opt %s -xla-sdy-stablehlo-export-pipeline='clear-reverse-op-sharding=true erase-manual-computations=true add-missing-sharding-to-control-flow=false' | FileCheck %s --check-prefix=LESS
// RUN: xla-opt %s -xla-sdy-stablehlo-export-pipeline='enable-hlo-sharding-v3=true simplify-replicated-shardings=true' | FileCheck %s --check-prefix=NAMES
// RUN: xla-opt %s -xla-sdy-stablehlo-export-pipeline=enable-reduce-scatter-export=true | FileCheck %s --check-prefix=SCATTER
// RUN: not xla-opt %s -xla-sdy-stablehlo-export-pipeline=keep-hlo-sharding-constraints=false 2>&1 | FileCheck %s --check-prefix=COPY
// COPY: there is no mhlo.copy here
sdy.mesh @mesh = <["x"=2, "y"=2]>

// Reverses of split dimensions, if asked for, are left to the partitioner; others are not.
// CHECK-LABEL: @reverse
// CHECK-COUNT-2: stablehlo.reverse {{.*}}mhlo.sharding
// LESS-LABEL: @reverse
// LESS: stablehlo.reverse %arg0, dims = [0] : tensor
// LESS: stablehlo.reverse %arg0, dims = [1] {mhlo.sharding
func.func @reverse(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.reverse %a, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A region of no manual axis is in between, or not.
// CHECK-LABEL: @region
// CHECK: @SPMDFullToShardShape
// LESS-LABEL: @region
// LESS-NOT: @SPMDFullToShardShape
// LESS: return
func.func @region(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%b: tensor<8xf32>) {
    %1 = stablehlo.negate %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Of what is everywhere no mesh is named; of what is to be summed, or may still be split, one is.
// NAMES-LABEL: @everywhere
// NAMES-SAME: %arg0: tensor<8xf32> {mhlo.sharding = "{mesh[], replicated}"}
// NAMES-SAME: %arg1: tensor<8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=2], [{?}]}"}
// NAMES-SAME: %arg2: tensor<8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=2], {{.*}}unreduced={'x'}}"}
func.func @everywhere(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"x"}>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>},
                      %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  return
}

// Loops and tokens that say nothing are told where they are, unless that is not wanted.
// CHECK-LABEL: @control_flow
// CHECK: stablehlo.create_token {mhlo.sharding = "{maximal device=0}"}
// CHECK: stablehlo.while
// CHECK-SAME: mhlo.sharding = "{replicated}"
// LESS-LABEL: @control_flow
// LESS: stablehlo.create_token :
func.func @control_flow(%a: tensor<i32>) -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.while(%i = %a) : tensor<i32>
    cond {
    %1 = stablehlo.compare LT, %i, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}

// CHECK-LABEL: @scatter
// CHECK-NOT: reduce_scatter
// CHECK: return
// SCATTER-LABEL: @scatter
// SCATTER: @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"}
// SCATTER: @SPMDFullToShardShape{{.*}}{mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
// SCATTER: "stablehlo.reduce_scatter"
// SCATTER: @SPMDShardToFullShape
func.func @scatter(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reduce_scatter [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-optimize-collectives | FileCheck %s
sdy.mesh @mesh = <["x"=2, "y"=2]>

// Nothing moves.
// CHECK-LABEL: @nothing
// CHECK-NEXT: return %arg0
func.func @nothing(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{}, {}] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %1 = sdy.all_reduce {} %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{}, {}] %1 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: @scattered
func.func @scattered(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: sdy.all_slice [{}, {"y"}] %[[SUM]] out_sharding=<@mesh, [{"x"}, {"y"}]>
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Somebody needs the whole sum.
// CHECK-LABEL: @needed
// CHECK: sdy.all_reduce
// CHECK: sdy.all_slice
func.func @needed(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @undone
func.func @undone(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[ALL:.*]] = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK: return %[[ALL]], %arg1
  %0 = sdy.sharded_to_unreduced [{"x"}] %a out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.replicated_to_unreduced {"y"} %b out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  %3 = sdy.all_reduce {"y"} %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @exchanged
func.func @exchanged(%a: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> tensor<8x8x8x8xf32> {
  // CHECK-NEXT: sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %arg0 out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]>
  %0 = sdy.all_to_all [{"y"}: 2->3] %a out_sharding=<@mesh, [{"x"}, {}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

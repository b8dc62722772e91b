// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-reshard-to-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>
sdy.mesh @other = <["x"=2]>

// CHECK-LABEL: @steps
func.func @steps(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: sdy.all_slice [{"y"}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
  %0 = sdy.reshard %a <@mesh, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  // CHECK-NEXT: sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
  %1 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  // CHECK-NEXT: sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]>
  %2 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  // CHECK-NEXT: sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {}]>
  %3 = sdy.reshard %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  // Parts are made smaller before they are collected.
  // CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{}, {"z"}] %arg0 out_sharding=<@mesh, [{"x"}, {"z"}]>
  // CHECK-NEXT: sdy.all_gather [{"x"}, {}] %[[S]] out_sharding=<@mesh, [{}, {"z"}]>
  %4 = sdy.reshard %a <@mesh, [{}, {"z"}]> : tensor<16x8xf32>
  // Nothing to do; another mesh is not for this pass.
  // CHECK-NEXT: stablehlo.negate %arg0
  %5 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %6 = stablehlo.negate %5 : tensor<16x8xf32>
  // CHECK-NEXT: sdy.reshard %arg0 <@other, [{"x"}, {}]>
  %7 = sdy.reshard %a <@other, [{"x"}, {}]> : tensor<16x8xf32>
  return
}

// What is pending is summed first.
// CHECK-LABEL: @pending
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@pair, [{"x"}, {}]>
// CHECK: sdy.all_gather [{"x"}, {}] %[[SUM]] out_sharding=<@pair, [{}, {}]>
sdy.mesh @pair = <["x"=2, "y"=2]>
func.func @pending(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@pair, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@pair, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @candidates
// CHECK: sdy.all_reduce min {"y"} %arg0 out_sharding=<@pair, [{"x"}, {}]>
func.func @candidates(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@pair, [{"x"}, {}], unreduced=min{"y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@pair, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

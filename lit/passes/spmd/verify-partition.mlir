// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing is said about what partitioning makes, nor about channels that programs brought with them and share among themselves.
// RUN: xla-opt %s -pass-pipeline="builtin.module(xla-spmd-partition,xla-verify-partition{own-channels=2})" | FileCheck %s
// RUN: not xla-opt %s -pass-pipeline="builtin.module(xla-spmd-partition,xla-verify-partition)" 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: 'stablehlo.collective_permute' op expects a channel of its own, but got 1

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK-COUNT-2: "stablehlo.collective_permute"{{.*}}handle = 1
  // CHECK: "stablehlo.all_gather"{{.*}}handle = 2
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
      %1 = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
      %2 = "stablehlo.collective_permute"(%1) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
      sdy.return %2 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

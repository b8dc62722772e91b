// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives start before, and are waited for behind, work that does not need them.
// RUN: xla-opt %s -split-input-file -xla-overlap-collectives | FileCheck %s
// RUN: xla-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xla-overlap-collectives{share=0}))" | FileCheck %s --check-prefix=OFF
// OFF-NOT: async

// What follows first: all of it that does not need the sum; a reshape of the sum waits, too.
// CHECK-LABEL: @behind
// CHECK: %[[F:.*]] = "stablehlo.async_start"(%arg0) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[R:.*]] = "stablehlo.all_reduce"(%[[A]])
// CHECK: stablehlo.return %[[R]]
// CHECK-NEXT: }) : (tensor<8x8xf32>) -> !stablehlo.future<tensor<8x8xf32>>
// CHECK-NEXT: %[[S:.*]] = stablehlo.sine %arg1
// CHECK-NEXT: %[[D:.*]] = "stablehlo.async_done"(%[[F]]) : (!stablehlo.future<tensor<8x8xf32>>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V:.*]] = stablehlo.reshape %[[D]]
// CHECK-NEXT: stablehlo.add %[[V]], %[[S]]
func.func @behind(%x: tensor<8x8xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x8xf32>) -> tensor<64xf32>
  %2 = stablehlo.sine %y : tensor<64xf32>
  %3 = stablehlo.add %1, %2 : tensor<64xf32>
  return %3 : tensor<64xf32>
}

// -----

// Then what precedes, but no more than costs what the collective does: 64 elements are gathered to 128, one sine reads and writes 128.
// CHECK-LABEL: @before
// CHECK: stablehlo.cosine
// CHECK-NEXT: %[[F:.*]] = "stablehlo.async_start"(%arg0)
// CHECK: %[[A:.*]] = stablehlo.sine
// CHECK-NEXT: %[[B:.*]] = stablehlo.negate %[[A]]
// CHECK-NEXT: %[[D:.*]] = "stablehlo.async_done"(%[[F]])
// CHECK-NEXT: stablehlo.concatenate %[[D]], %[[B]]
func.func @before(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<192xf32> {
  %0 = stablehlo.cosine %y : tensor<64xf32>
  %1 = stablehlo.sine %0 : tensor<64xf32>
  %2 = stablehlo.negate %1 : tensor<64xf32>
  %3 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<64xf32>) -> tensor<128xf32>
  %4 = stablehlo.concatenate %3, %2, dim = 0 : (tensor<128xf32>, tensor<64xf32>) -> tensor<192xf32>
  return %4 : tensor<192xf32>
}

// -----

// One after the other; of one device; with an operand that is written over later, perhaps in place; with a computation that is not its own.
// CHECK-LABEL: @left_alone
// CHECK-NOT: async
func.func @left_alone(%x: tensor<64xf32>, %y: tensor<64xf32>, %c: tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<64xf32>) -> tensor<64xf32>
  %1 = stablehlo.sine %0 : tensor<64xf32>
  %2 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<64xf32>) -> tensor<64xf32>
  %3 = "stablehlo.collective_permute"(%1) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<64xf32>) -> tensor<64xf32>
  %4 = stablehlo.negate %1 : tensor<64xf32>
  %5 = "stablehlo.all_reduce"(%4) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64xf32>) -> tensor<64xf32>
  %6 = stablehlo.sine %y : tensor<64xf32>
  return %2, %3, %5, %6 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small collectives of a kind that do not need each other become one message, up to a size; nothing else changes.
// RUN: xla-opt %s -split-input-file -xla-combine-collectives | FileCheck %s
// RUN: xla-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xla-combine-collectives{max-gather-bytes=320 max-scatter-bytes=0 max-bytes=0}))" | FileCheck %s --check-prefix=SMALL

#groups = dense<[[0, 1]]> : tensor<1x2xi64>

// Of different shapes, with work in between that needs one of them.
// CHECK-LABEL: @gathers
// CHECK: %[[G:.*]]:3 = "stablehlo.all_gather"(%arg0, %arg1, %arg2) <{all_gather_dim = 0 : i64, channel_handle
// CHECK-SAME: (tensor<4x8xf32>, tensor<4xf32>, tensor<16xf32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<32xf32>)
// CHECK: %[[S:.*]] = stablehlo.sine %[[G]]#0
// CHECK-NOT: all_gather
// CHECK: return %[[S]], %[[G]]#1, %[[G]]#2
// 256 and 32 bytes are one message of at most 320, 128 the next one.
// SMALL-LABEL: @gathers
// SMALL: "stablehlo.all_gather"(%arg0, %arg1)
// SMALL: "stablehlo.all_gather"(%arg2)
func.func @gathers(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %c: tensor<16xf32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<32xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.sine %0 : tensor<8x8xf32>
  %2 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  %3 = "stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> : (tensor<16xf32>) -> tensor<32xf32>
  return %1, %2, %3 : tensor<8x8xf32>, tensor<8xf32>, tensor<32xf32>
}

// -----

#groups = dense<[[0, 1]]> : tensor<1x2xi64>

// One needs the other; along another dimension; among other devices; of another type.
// CHECK-LABEL: @gathers_apart
// CHECK-COUNT-5: "stablehlo.all_gather"
func.func @gathers_apart(%a: tensor<4x8xf32>, %b: tensor<8xi8>) -> (tensor<16x8xf32>, tensor<4x16xf32>, tensor<8x8xf32>, tensor<16xi8>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<8x8xf32>) -> tensor<16x8xf32>
  %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %3 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids}> : (tensor<8xi8>) -> tensor<16xi8>
  return %1, %2, %3, %4 : tensor<16x8xf32>, tensor<4x16xf32>, tensor<8x8xf32>, tensor<16xi8>
}

// -----

#groups = dense<[[0, 1]]> : tensor<1x2xi64>

// Rows of parts side by side; a dimension of one element in front changes nothing.
// CHECK-LABEL: @scatters
// CHECK-DAG: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<8x3xf32>) -> tensor<2x12xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.reshape %arg1 : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 1
// CHECK: %[[R:.*]] = "stablehlo.reduce_scatter"(%[[C]])
// CHECK-SAME: scatter_dimension = 0
// CHECK: (tensor<2x17xf32>) -> tensor<1x17xf32>
// CHECK: %[[X:.*]] = stablehlo.slice %[[R]] [0:1, 0:12]
// CHECK: stablehlo.reshape %[[X]] : (tensor<1x12xf32>) -> tensor<4x3xf32>
// CHECK: %[[Y:.*]] = stablehlo.slice %[[R]] [0:1, 12:17]
// CHECK: stablehlo.reshape %[[Y]] : (tensor<1x5xf32>) -> tensor<1x1x5xf32>
// SMALL-LABEL: @scatters
// SMALL-NOT: concatenate
func.func @scatters(%a: tensor<8x3xf32>, %b: tensor<1x2x5xf32>) -> (tensor<4x3xf32>, tensor<1x1x5xf32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %1 = "stablehlo.reduce_scatter"(%b) <{scatter_dimension = 1 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1x2x5xf32>) -> tensor<1x1x5xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<1x1x5xf32>
}

// -----

#groups = dense<[[0, 1]]> : tensor<1x2xi64>

// Columns are no rows; a maximum is no sum; of another type.
// CHECK-LABEL: @scatters_apart
// CHECK-NOT: concatenate
// SMALL-LABEL: @scatters_apart
func.func @scatters_apart(%a: tensor<8x4xf32>, %b: tensor<8xi32>) -> (tensor<4x4xf32>, tensor<8x2xf32>, tensor<4x4xf32>, tensor<4xi32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 1 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %2 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %3 = "stablehlo.reduce_scatter"(%b) <{scatter_dimension = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>) -> tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<8x2xf32>, tensor<4x4xf32>, tensor<4xi32>
}

// -----

#groups = dense<[[0, 1]]> : tensor<1x2xi64>

// Exchanges along the same dimensions; permutations have one operand.
// CHECK-LABEL: @exchanges
// CHECK: "stablehlo.all_to_all"(%arg0, %arg1)
// CHECK: "stablehlo.all_to_all"(%arg0)
// CHECK-COUNT-2: "stablehlo.collective_permute"
// SMALL-LABEL: @exchanges
func.func @exchanges(%a: tensor<4x8xf32>, %b: tensor<2x2xf32>) -> (tensor<8x4xf32>, tensor<4x1xf32>, tensor<2x16xf32>, tensor<4x8xf32>, tensor<2x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.all_to_all"(%b) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (tensor<2x2xf32>) -> tensor<4x1xf32>
  %2 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %3 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<8x4xf32>, tensor<4x1xf32>, tensor<2x16xf32>, tensor<4x8xf32>, tensor<2x2xf32>
}

// -----

// Two messages of which each would have to be there before the other one: the second needs the first through %b and %c, so that %d goes alone.
// CHECK-LABEL: @crossed
// CHECK: %[[A:.*]] = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0
// CHECK: %[[S:.*]] = stablehlo.sine %[[A]]
// CHECK: %[[BC:.*]]:2 = "stablehlo.all_gather"(%arg1, %[[S]]) <{all_gather_dim = 1
// CHECK: %[[C:.*]] = stablehlo.cosine %[[BC]]#0
// CHECK: "stablehlo.all_gather"(%[[C]]) <{all_gather_dim = 0
func.func @crossed(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %a = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %b = "stablehlo.all_gather"(%y) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %s = stablehlo.sine %a : tensor<8x8xf32>
  %c = "stablehlo.all_gather"(%s) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> : (tensor<8x8xf32>) -> tensor<8x16xf32>
  %t = stablehlo.cosine %b : tensor<4x16xf32>
  %d = "stablehlo.all_gather"(%t) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, use_global_device_ids}> : (tensor<4x16xf32>) -> tensor<8x16xf32>
  return %c, %d : tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

// Without a channel the first is among replicas, the second among replicas and partitions.
// CHECK-LABEL: @channels
// CHECK-COUNT-2: "stablehlo.all_gather"
func.func @channels(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>}> : (tensor<4xf32>) -> tensor<8xf32>
  %1 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What waits for a combined message goes on before what does not: the gather of %w keeps its place behind the hyperbolic tangent.
// CHECK-LABEL: @places
// CHECK: %[[N:.*]] = stablehlo.negate %arg1
// CHECK-NEXT: %[[G:.*]]:2 = "stablehlo.all_gather"(%arg0, %[[N]])
// CHECK: %[[S:.*]] = stablehlo.sine %[[G]]#0
// CHECK: stablehlo.tanh %[[S]]
// CHECK: "stablehlo.all_gather"(%arg2) <{all_gather_dim = 1
func.func @places(%a: tensor<4xf32>, %b: tensor<4xf32>, %w: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4x16xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  %1 = stablehlo.sine %0 : tensor<8xf32>
  %2 = stablehlo.negate %b : tensor<4xf32>
  %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  %4 = stablehlo.tanh %1 : tensor<8xf32>
  %5 = "stablehlo.all_gather"(%w) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<4x16xf32>
}

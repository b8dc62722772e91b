// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each program breaks one rule of what partitioning leaves behind; the message says which, where, and what was expected.
// RUN: not xla-opt %s -split-input-file -xla-verify-partition 2>&1 | FileCheck %s

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  // CHECK: verify-partition-invalid.mlir:[[@LINE-1]]:3: error: 'sdy.mesh' op expects no operation of sdy after partitioning
  func.func @operation(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: verify-partition-invalid.mlir:[[@LINE+1]]:{{.*}}error: 'sdy.reshard' op expects no operation of sdy after partitioning
    %0 = sdy.reshard %a <@mesh, [{}]> : tensor<4xf32>
    // CHECK: verify-partition-invalid.mlir:[[@LINE+1]]:{{.*}}error: 'stablehlo.sine' op expects no sharding after partitioning, but got "sdy.sharding" = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
    %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
    // CHECK: error: 'stablehlo.cosine' op expects no sharding after partitioning, but got "mhlo.sharding" = "{replicated}"
    %2 = stablehlo.cosine %1 {mhlo.sharding = "{replicated}"} : tensor<4xf32>
    // CHECK: error: 'stablehlo.custom_call' op expects no @SPMDFullToShardShape after partitioning
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) : (tensor<4xf32>) -> tensor<4xf32>
    // Whoever wants to know gets the answer there.
    // CHECK-NOT: InspectSharding
    stablehlo.custom_call @InspectSharding(%3) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> ()
    return %3 : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  // CHECK: error: 'func.func' op argument 0: expects a sharding of 'tensor<4xf32>' over 4 devices, but got "{devices=[2]<=[2]}": expected all of the program's 4 devices, but got 2
  func.func @devices(%a: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) { return }
  // CHECK: error: 'func.func' op result 0: expects 3 elements in dimension 0, one of 4 parts of 10, but got 4
  func.func @shape(%a: tensor<4xf32>) -> (tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}", millrace.whole_shape = array<i64: 10>}) {
    return %a : tensor<4xf32>
  }
  // CHECK: error: 'func.func' op argument 0: expects millrace.whole_shape of 1 dimensions, but got 2
  func.func @rank(%a: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}", millrace.whole_shape = array<i64: 16, 1>}) { return }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @groups(%a: tensor<4xf32>) {
    // CHECK: error: 'stablehlo.all_gather' op expects replica_groups to name each of 4 devices once, but 2 is in none
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK: error: 'stablehlo.all_gather' op expects replica_groups of 4 devices, but got 4
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<20xf32>
    // CHECK: error: 'stablehlo.collective_permute' op expects source_target_pairs of 4 partitions, but got 7
    %2 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 7]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: error: 'stablehlo.all_to_all' op expects replica_groups to name each of 4 partitions once, but 2 is in none
    %3 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
  // Devices that get nothing get zeros; groups without use_global_device_ids are of replicas, of which there is one.
  // CHECK-NOT: error
  func.func @right(%a: tensor<4xf32>) {
    %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @shapes(%a: tensor<8xf32>) {
    // CHECK: error: 'stablehlo.all_gather' op expects 32 elements in dimension 0 of its result among 4 devices, but got 16
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    // CHECK: error: 'stablehlo.reduce_scatter' op expects 2 elements in dimension 0 of its result among 4 devices, but got 4
    %1 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @channels(%a: tensor<4xf32>) {
    %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: error: 'stablehlo.collective_permute' op expects a channel of its own, but got 7
    // CHECK: note: which is that of stablehlo.collective_permute here
    %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textual form of collectives, async pairs, tokens, send/recv, infeed/outfeed, rng and fft.
// RUN: xla-opt %s | FileCheck %s
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s --emit-bytecode | xla-opt | FileCheck %s

// CHECK-LABEL: @collectives
// CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
// CHECK: "stablehlo.all_reduce"(%arg0) <{replica_groups = #stablehlo.replica_group_mesh_axes<
// CHECK: "stablehlo.reduce_scatter"
// CHECK: "stablehlo.all_to_all"(%arg0, %arg0)
// CHECK: "stablehlo.collective_broadcast"(%arg0, %arg1) <{has_dynamic_root, replica_groups
// CHECK: "stablehlo.collective_permute"
// CHECK: "stablehlo.collective_reduce"
// CHECK: "stablehlo.cross-replica-sum"
func.func @collectives(%x: tensor<4xf32>, %r: tensor<i32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  %3:2 = "stablehlo.all_to_all"(%x, %x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %4 = "stablehlo.collective_broadcast"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %5 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %6 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %7 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @async
// CHECK: %0 = "stablehlo.async_start"(%arg0) ({
// CHECK: }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
// CHECK: "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
func.func @async(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %2 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @tokens
// CHECK: %[[T:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK: %[[U:.*]] = stablehlo.after_all %[[T]], %[[T]] : !stablehlo.token
// CHECK: "stablehlo.send"(%arg0, %[[U]]) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}>
// CHECK: "stablehlo.recv"({{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}>
// CHECK: "stablehlo.infeed"({{.*}}) <{infeed_config = "foo", layout = {{\[\[}}0]]}>
// CHECK: "stablehlo.outfeed"
// CHECK: stablehlo.replica_id : tensor<ui32>
// CHECK: stablehlo.partition_id : tensor<ui32>
func.func @tokens(%x: tensor<4xf32>) -> (tensor<ui32>, tensor<ui32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t : !stablehlo.token
  %s = "stablehlo.send"(%x, %u) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %i:2 = "stablehlo.infeed"(%r#1) <{infeed_config = "foo", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %o = "stablehlo.outfeed"(%i#0, %i#1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %a = stablehlo.replica_id : tensor<ui32>
  %b = stablehlo.partition_id : tensor<ui32>
  return %a, %b : tensor<ui32>, tensor<ui32>
}

// CHECK-LABEL: @random
// CHECK: stablehlo.fft %arg0, type =  RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
// CHECK: stablehlo.rng_bit_generator %arg1, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
// CHECK: stablehlo.rng %arg2, %arg2, %arg3, distribution =  NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
func.func @random(%x: tensor<4xf32>, %s: tensor<2xui64>, %a: tensor<f32>, %n: tensor<1xi64>) -> (tensor<3xcomplex<f32>>, tensor<2x2xui64>, tensor<?xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %1, %2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
  %3 = stablehlo.rng %a, %a, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %0, %2, %3 : tensor<3xcomplex<f32>>, tensor<2x2xui64>, tensor<?xf32>
}

// Collectives, their asynchronous pairs and device ids.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>) {
  // CHECK: all-gather.1 = f32[8]{0} all-gather(Arg_0.1), channel_id=1, replica_groups={{[{][{]}}0,1{{[}][}]}}, use_global_device_ids=true, dimensions={0}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  // A -1 pads a short group.
  // CHECK: all-reduce.1 = f32[4]{0} all-reduce(Arg_0.1), replica_groups={{[{][{]}}0},{1,2{{[}][}]}}, to_apply=region.1
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, -1], [1, 2]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: reduce-scatter.1 = f32[2]{0} reduce-scatter(Arg_0.1), channel_id=7, replica_groups={{[{][{]}}0,1{{[}][}]}}, use_global_device_ids=true, dimensions={0}, to_apply=region.2
  %2 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  // Each operand is exchanged alone: HLO's form with several means something else.
  // CHECK: all-to-all.1 = f32[4]{0} all-to-all(Arg_0.1), replica_groups={{[{][{]}}0,1{{[}][}]}}, dimensions={0}
  // CHECK: all-to-all.2 = f32[4]{0} all-to-all(Arg_1.1), replica_groups
  %3:2 = "stablehlo.all_to_all"(%x, %y) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: collective-broadcast.1 = f32[4]{0} collective-broadcast(Arg_0.1), replica_groups={{[{][{]}}0,1{{[}][}]}}
  %4 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: collective-permute.1 = f32[4]{0} collective-permute(Arg_0.1), channel_id=3, source_target_pairs={{[{][{]}}0,1},{1,0{{[}][}]}}
  %5 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  // No groups: all of them. Both operands travel together.
  // CHECK: all-reduce.2 = (f32[4]{0}, f32[4]{0}) all-reduce(Arg_0.1, Arg_1.1), replica_groups={}, to_apply=region.3
  %6:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: all-reduce.3 = f32[4]{0} all-reduce(Arg_0.1), replica_groups={{[{][{]}}0,1{{[}][}]}}, to_apply=region.4
  %7 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: partition-id.1 = u32[] partition-id()
  %8 = stablehlo.partition_id : tensor<ui32>
  // CHECK: replica-id.1 = u32[] replica-id()
  %9 = stablehlo.replica_id : tensor<ui32>
  return %0, %1, %2, %3#0, %3#1, %4, %5, %6#1, %7, %8, %9 : tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>
}

// -----
// A promoting computation converts its operand first.
// CHECK: ROOT all-reduce.1 = f64[4]{0} all-reduce(convert.1), replica_groups={{[{][{]}}0,1{{[}][}]}}, to_apply=region.1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf64> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----
// Axes of a mesh become lists of ids.
// CHECK: all-gather.1 = f32[16]{0} all-gather(Arg_0.1), channel_id=7, replica_groups={{[{][{]}}0,1,4,5},{2,3,6,7{{[}][}]}}, use_global_device_ids=true
func.func @main(%x: tensor<4xf32>) -> tensor<16xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 4>]>, axes = [#stablehlo.axis_ref<name = "a">, #stablehlo.axis_ref<name = "b", sub_axis_info = (2)2>]>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----
// HLO's all-to-all concatenates where it splits; the parts are moved afterwards.
// CHECK: all-to-all.1 = f32[4,6]{1,0} all-to-all(Arg_0.1), replica_groups={{[{][{]}}0,1{{[}][}]}}, dimensions={1}
// CHECK: reshape.1 = f32[4,2,3]{2,1,0} reshape(all-to-all.1)
// CHECK: transpose.1 = f32[2,4,3]{2,1,0} transpose(reshape.1), dimensions={1,0,2}
// CHECK: ROOT reshape.2 = f32[8,3]{1,0} reshape(transpose.1)
func.func @main(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----
// CHECK: all-reduce-start.1 = f32[4]{0} all-reduce-start(Arg_0.1), replica_groups={{[{][{]}}0,1{{[}][}]}}, to_apply=region.1
// CHECK: all-reduce-done.1 = f32[4]{0} all-reduce-done(all-reduce-start.1)
// CHECK: all-gather-start.1 = (f32[4]{0}, f32[8]{0}) all-gather-start(Arg_0.1), channel_id=1, replica_groups={{[{][{]}}0,1{{[}][}]}}, use_global_device_ids=true, dimensions={0}
// CHECK: all-gather-done.1 = f32[8]{0} all-gather-done(all-gather-start.1)
// CHECK: collective-permute-start.1 = (f32[4]{0}, f32[4]{0}) collective-permute-start(Arg_0.1), source_target_pairs={{[{][{]}}0,1{{[}][}]}}
// CHECK: collective-permute-done.1 = f32[4]{0} collective-permute-done(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %6 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%d: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %d : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %6 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %2 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %6 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %6 : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %3 = "stablehlo.async_done"(%2) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  %4 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %6 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %6 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %5 = "stablehlo.async_done"(%4) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
}

// -----
// Other collectives start in a computation of their own.
// CHECK: region.1 {
// CHECK: ROOT reduce-scatter.1 = f32[2]{0} reduce-scatter(
// CHECK: async-start.1 = ((f32[4]{0}), f32[2]{0}) async-start(Arg_0.1), calls=region.1
// CHECK: ROOT async-done.1 = f32[2]{0} async-done(async-start.1)
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %2 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%d: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %d : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

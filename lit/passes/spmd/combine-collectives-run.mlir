// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joined and apart, devices compute the same, to the last bit: gathers, exchanges, and scattered sums whose parts lie apart in the message.
// RUN: xla-run %s --cache-dir=off --seed=3 > %t.apart
// RUN: xla-opt %s -xla-combine-collectives -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: xla-run %t.mlir --cache-dir=off --seed=3 > %t.joined
// RUN: diff %t.apart %t.joined
// RUN: grep -c "device 3: dense" %t.joined | FileCheck %s --check-prefix=EACH
// CHECK: "stablehlo.all_gather"(%arg0, %arg1)
// CHECK: "stablehlo.all_to_all"({{%.*}}, {{%.*}})
// CHECK: concatenate
// CHECK: "stablehlo.reduce_scatter"
// CHECK-NOT: "stablehlo.reduce_scatter"
// EACH: 6
#groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<3x5xf32>, %b: tensor<2xf32>) -> (tensor<6x5xf32>, tensor<4xf32>, tensor<6x5xf32>, tensor<4xf32>, tensor<3x5xf32>, tensor<1x3xf32>) {
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<3x5xf32>) -> tensor<6x5xf32>
    %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    // What devices hold is no longer the same.
    %id = stablehlo.partition_id : tensor<ui32>
    %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %i = stablehlo.multiply %n, %n : tensor<f32>
    %ns = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
    %is = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %own = stablehlo.add %0, %ns : tensor<6x5xf32>
    %whole = stablehlo.add %1, %is : tensor<4xf32>
    %2 = "stablehlo.all_to_all"(%own) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %3 = "stablehlo.all_to_all"(%whole) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "stablehlo.reduce_scatter"(%own) <{scatter_dimension = 0 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6x5xf32>) -> tensor<3x5xf32>
    %cut = stablehlo.slice %own [0:6, 1:2] : (tensor<6x5xf32>) -> tensor<6x1xf32>
    %row = stablehlo.reshape %cut : (tensor<6x1xf32>) -> tensor<1x6xf32>
    %5 = "stablehlo.reduce_scatter"(%row) <{scatter_dimension = 1 : i64, replica_groups = #groups, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1x6xf32>) -> tensor<1x3xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<6x5xf32>, tensor<4xf32>, tensor<6x5xf32>, tensor<4xf32>, tensor<3x5xf32>, tensor<1x3xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four partitions with values 10 * device + row exchange them in every way but all_reduce and all_gather.
// RUN: xla-run %s --num-devices=4 --cache-dir=off | FileCheck %s
// CHECK: device 0: dense<0> : tensor<4x2xi32>
// CHECK-NEXT: device 0: dense<60> : tensor<1x2xi32>
// CHECK-NEXT: device 0: dense<{{\[}}[0, 0], [10, 10], [20, 20], [30, 30]]> : tensor<4x2xi32>
// CHECK-NEXT: device 0: dense<{{\[}}[10, 10], [11, 11], [12, 12], [13, 13]]> : tensor<4x2xi32>
// CHECK: device 3: dense<{{\[}}[20, 20], [21, 21], [22, 22], [23, 23]]> : tensor<4x2xi32>
// CHECK-NEXT: device 3: dense<72> : tensor<1x2xi32>
// CHECK-NEXT: device 3: dense<{{\[}}[3, 3], [13, 13], [23, 23], [33, 33]]> : tensor<4x2xi32>
// CHECK-NEXT: device 3: dense<{{\[}}[20, 20], [21, 21], [22, 22], [23, 23]]> : tensor<4x2xi32>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<1x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %b = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %ten = stablehlo.constant dense<10> : tensor<4x2xi32>
    %io = stablehlo.iota dim = 0 : tensor<4x2xi32>
    %b10 = stablehlo.multiply %b, %ten : tensor<4x2xi32>
    %y = stablehlo.add %b10, %io : tensor<4x2xi32>
    %0 = "stablehlo.collective_permute"(%y) {source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4x2xi32>) -> tensor<4x2xi32>
    %1 = "stablehlo.reduce_scatter"(%y) ({
    ^bb0(%a: tensor<i32>, %c: tensor<i32>):
      %s = stablehlo.add %a, %c : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<4x2xi32>) -> tensor<1x2xi32>
    %2 = "stablehlo.all_to_all"(%y) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>} : (tensor<4x2xi32>) -> tensor<4x2xi32>
    %3 = "stablehlo.collective_broadcast"(%y) {replica_groups = dense<[[2,3],[1,0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>} : (tensor<4x2xi32>) -> tensor<4x2xi32>
    return %0, %1, %2, %3 : tensor<4x2xi32>, tensor<1x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>
  }
}

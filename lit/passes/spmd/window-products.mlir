// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xla-window-products{overlap=10 gigaflops=0.001}))" | FileCheck %s
// RUN: xla-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xla-window-products))" | FileCheck %s --check-prefix=NEVER
// NEVER-COUNT-4: stablehlo.all_gather
// NEVER-NOT: collective_permute

// Rows are gathered, and each part's product goes to its own rows: on device 0 first rows 0 and 1, then 2 and 3.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4x8xf32>)
// CHECK-NOT: all_gather
// CHECK: dense<[0, 1, 0, 1]> : tensor<4xi32>
// CHECK: %[[A:.*]] = stablehlo.dot_general %[[X]], %[[W]]{{.*}} -> tensor<2x8xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[A]]
// CHECK: %[[N:.*]] = "stablehlo.collective_permute"(%[[X]])
// CHECK-SAME{LITERAL}: dense<[[1, 0], [0, 1], [3, 2], [2, 3]]>
// CHECK: %[[B:.*]] = stablehlo.dot_general %[[N]], %[[W]]
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %{{.*}}, %[[B]]
// CHECK: return %[[R]]
func.func @rows(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Columns of the right side are the last dimension of the result.
// CHECK-LABEL: @columns
// CHECK: stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : {{.*}} -> tensor<3x5x2xf32>
// CHECK: stablehlo.dynamic_update_slice {{.*}}tensor<3x5x4xf32>, tensor<3x5x2xf32>
func.func @columns(%w: tensor<3x4x2xf32>, %x: tensor<3x5x4xf32>) -> tensor<3x5x4xf32> {
  %0 = "stablehlo.all_gather"(%w) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<3x4x2xf32>) -> tensor<3x4x4xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x5x4xf32>, tensor<3x4x4xf32>) -> tensor<3x5x4xf32>
  return %1 : tensor<3x5x4xf32>
}

// -----

// A sum over what was gathered would be rounded in another order on every device; a second user needs the whole anyway.
// CHECK-LABEL: @left_alone
// CHECK-COUNT-2: stablehlo.all_gather
// CHECK-NOT: collective_permute
func.func @left_alone(%x: tensor<4x2xf32>, %y: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4x2xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %3, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>
}

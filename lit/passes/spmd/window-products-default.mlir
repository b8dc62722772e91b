// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partitioned programs multiply in a ring where that was measured to win: a large gathered value, few columns.
// RUN: xla-compile %s --emit=partitioned --cache-dir=off | FileCheck %s

// CHECK-LABEL: @main
// CHECK-NOT: all_gather
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4096x2048xf32>, tensor<2048x64xf32>) -> tensor<4096x64xf32>
// CHECK: "stablehlo.collective_permute"
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4096x2048xf32>, tensor<2048x64xf32>) -> tensor<4096x64xf32>
// Too many columns; too little that is gathered.
// CHECK: "stablehlo.all_gather"{{.*}} -> tensor<8192x2048xf32>
// CHECK: "stablehlo.all_gather"{{.*}} -> tensor<1024x2048xf32>
// CHECK-NOT: collective_permute
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @main(%a: tensor<8192x2048xf32>, %b: tensor<8192x2048xf32>, %c: tensor<1024x2048xf32>, %d: tensor<2048x64xf32>, %e: tensor<2048x128xf32>) -> (tensor<8192x64xf32>, tensor<8192x128xf32>, tensor<1024x64xf32>) {
    %r:3 = sdy.manual_computation(%a, %b, %c, %d, %e) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{"a"}, {}]>, <@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"a"} (%x: tensor<4096x2048xf32>, %y: tensor<4096x2048xf32>, %z: tensor<512x2048xf32>, %few: tensor<2048x64xf32>, %many: tensor<2048x128xf32>) {
      %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4096x2048xf32>) -> tensor<8192x2048xf32>
      %1 = stablehlo.dot_general %0, %few, contracting_dims = [1] x [0] : (tensor<8192x2048xf32>, tensor<2048x64xf32>) -> tensor<8192x64xf32>
      %2 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<4096x2048xf32>) -> tensor<8192x2048xf32>
      %3 = stablehlo.dot_general %2, %many, contracting_dims = [1] x [0] : (tensor<8192x2048xf32>, tensor<2048x128xf32>) -> tensor<8192x128xf32>
      %4 = "stablehlo.all_gather"(%z) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> : (tensor<512x2048xf32>) -> tensor<1024x2048xf32>
      %5 = stablehlo.dot_general %4, %few, contracting_dims = [1] x [0] : (tensor<1024x2048xf32>, tensor<2048x64xf32>) -> tensor<1024x64xf32>
      sdy.return %1, %3, %5 : tensor<8192x64xf32>, tensor<8192x128xf32>, tensor<1024x64xf32>
    } : (tensor<8192x2048xf32>, tensor<8192x2048xf32>, tensor<1024x2048xf32>, tensor<2048x64xf32>, tensor<2048x128xf32>) -> (tensor<8192x64xf32>, tensor<8192x128xf32>, tensor<1024x64xf32>)
    return %r#0, %r#1, %r#2 : tensor<8192x64xf32>, tensor<8192x128xf32>, tensor<1024x64xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and results may have shards of unequal sizes, where the client can cut and join them: rows that 8 devices do not divide.
// RUN: xla-compile %s --auto-sharding --mesh=a=8 --machine=h100 --explain-sharding --cache-dir=off | FileCheck %s
// RUN: xla-run %s --auto-sharding --mesh=a=8 --machine=h100 --verify --quiet --cache-dir=off
// RUN: xla-opt %s -xla-auto-sharding="machine=h100" | FileCheck %s --check-prefix=EVEN
// CHECK: argument 0 of @main{{.*}} : tensor<100001x64xf32> [{"a"}, {}], 3200256 bytes on a device
// CHECK: result 0 of @main{{.*}} : tensor<100001x64xf32> [{"a"}, {}], 3200256 bytes on a device
// EVEN: func.func @main(%arg0: tensor<100001x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["a"=8]>
  func.func @main(%x: tensor<100001x64xf32>, %w: tensor<64x64xf32>) -> tensor<100001x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<100001x64xf32>, tensor<64x64xf32>) -> tensor<100001x64xf32>
    %1 = stablehlo.tanh %0 : tensor<100001x64xf32>
    return %1 : tensor<100001x64xf32>
  }
}

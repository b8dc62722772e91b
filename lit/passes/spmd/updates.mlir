// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates of several tiles at once, and numbers that must be the same on all devices.
// RUN: xla-opt %s -split-input-file -xla-spmd-partition | FileCheck %s --implicit-check-not=stablehlo.all_gather

// Several rows: each device takes from the update, between elements of no meaning, what falls into its tile.
// CHECK-LABEL: module @rows
// CHECK: %[[PADDED:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [2, 0], high = [2, 0], interior = [0, 0]
// CHECK: %[[MINE:.*]] = stablehlo.dynamic_slice %[[PADDED]], {{.*}}, sizes = [2, 3]
// CHECK: %[[WRITTEN:.*]] = stablehlo.dynamic_update_slice %arg0, %[[MINE]]
// CHECK: stablehlo.select %{{.*}}, %[[WRITTEN]], %arg0
module @rows attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func @main(%x: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %u: tensor<3x3xf32>, %at: tensor<i32>) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %x, %u, %at, %zero : (tensor<8x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
    return %0 : tensor<8x3xf32>
  }
}

// -----

// Numbers are drawn on one device, so that they are the same everywhere.
// CHECK-LABEL: module @random
// CHECK: %[[DRAWN:.*]] = stablehlo.rng
// CHECK: "stablehlo.collective_broadcast"(%[[DRAWN]]) {{.*}}replica_groups = dense<{{\[\[}}0, 1]]>
module @random attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @main(%x: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %shape = stablehlo.constant dense<8> : tensor<1xi64>
    %0 = stablehlo.rng %x, %x, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Who does not have a row adds -0, which leaves the row as it is; 0 would turn its -0 into 0.
// CHECK-LABEL: module @looked_up
// CHECK: %[[NOTHING:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<3x4xf32>
// CHECK: %[[MASKED:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[NOTHING]]
// CHECK: "stablehlo.all_reduce"(%[[MASKED]])
module @looked_up attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func @main(%table: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %rows: tensor<3x1xi32>) -> tensor<3x4xf32> {
    %0 = "stablehlo.gather"(%table, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}

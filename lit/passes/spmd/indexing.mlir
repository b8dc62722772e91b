// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dimensions that indices point into stay split: nobody collects a table of words or a cache of keys.
// RUN: xla-opt %s -split-input-file -sdy-propagation-pipeline -xla-spmd-partition | FileCheck %s --implicit-check-not=stablehlo.all_gather
// RUN: xla-run %s --verify --quiet --cache-dir=off

// Rows of a table whose rows are split: zeros for foreign words, then a sum.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.clamp
// CHECK: stablehlo.subtract
// CHECK: "stablehlo.gather"{{.*}}slice_sizes = array<i64: 1, 8>{{.*}} : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5x8xf32>
// CHECK: stablehlo.select
// CHECK: "stablehlo.all_reduce"
// Updates that belong to others are out of bounds.
// CHECK: "stablehlo.scatter"{{.*}}
// CHECK: (tensor<4x8xf32>, tensor<5x1xi64>, tensor<5x8xf32>) -> tensor<4x8xf32>
// One row of a cache: who has it writes the update, the others what is there.
// CHECK: %[[THERE:.*]] = stablehlo.dynamic_slice %arg0
// CHECK: %[[ROW:.*]] = stablehlo.select %{{.*}}, %arg2, %[[THERE]]
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[ROW]], {{.*}} : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func @main(%table: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %words: tensor<5x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %row: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %at: tensor<i32>) -> (tensor<5x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.gather"(%table, %words) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
    %1 = "stablehlo.scatter"(%table, %words, %0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<16x8xf32>
    %2 = stablehlo.dynamic_update_slice %table, %row, %at, %zero : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
    return %0, %1, %2 : tensor<5x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merged dimensions that are annotated only behind the merge, and operations that take their operands in parts.
// RUN: split-file %s %t
// RUN: xla-compile %t/scattered.mlir --emit=partitioned | FileCheck %s --check-prefix=SCATTERED
// RUN: xla-compile %t/taken.mlir --emit=partitioned | FileCheck %s --check-prefix=TAKEN --implicit-check-not=all_gather --implicit-check-not=all_to_all
// RUN: xla-compile %t/stays.mlir --emit=partitioned | FileCheck %s --check-prefix=STAYS
// RUN: xla-run %t/scattered.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/taken.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/stays.mlir --verify --quiet --cache-dir=off

//--- scattered.mlir
// A product summed over devices, of which each keeps a part of the sequence: it is scattered, not summed for all and cut.
// SCATTERED: stablehlo.dot_general {{.*}} -> tensor<2x8x4xf32>
// SCATTERED-NOT: all_reduce
// SCATTERED: "stablehlo.reduce_scatter"
// SCATTERED-SAME: scatter_dimension = 1
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["model"=4]>
  func.func @main(%x: tensor<2x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>},
                  %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<2x8x4xf32> {
    %0 = stablehlo.reshape %x : (tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.reshape %1 : (tensor<16x4xf32>) -> tensor<2x8x4xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{}, {"model"}, {}]> : tensor<2x8x4xf32>
    return %4 : tensor<2x8x4xf32>
  }
}

//--- taken.mlir
// Heads, the second of two merged dimensions, are split: what writes into a buffer, reads a piece of it and takes the maximum of
// neighbours along other dimensions does so on the heads that are there.
// TAKEN: @main(%arg0: tensor<2x1x8x4xf32> {{.*}}, %arg1: tensor<2x1x3x4xf32>
// TAKEN: stablehlo.dynamic_update_slice {{.*}} : (tensor<2x1x8x4xf32>, tensor<2x1x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
// TAKEN: stablehlo.dynamic_slice {{.*}} sizes = [2, 1, 5, 4]
// TAKEN: "stablehlo.reduce_window"
// TAKEN-SAME: window_dimensions = array<i64: 1, 1, 2, 1>
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["model"=4]>
  func.func @main(%b: tensor<2x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {}]>},
                  %u: tensor<2x4x3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {}]>}, %i: tensor<i32>)
      -> (tensor<2x4x5x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {}]>}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reshape %b : (tensor<2x4x8x4xf32>) -> tensor<8x8x4xf32>
    %1 = stablehlo.reshape %u : (tensor<2x4x3x4xf32>) -> tensor<8x3x4xf32>
    %2 = stablehlo.dynamic_update_slice %0, %1, %zero, %i, %zero : (tensor<8x8x4xf32>, tensor<8x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x8x4xf32>
    %3 = stablehlo.dynamic_slice %2, %zero, %i, %zero, sizes = [8, 5, 4] : (tensor<8x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x5x4xf32>
    %4 = "stablehlo.reduce_window"(%3, %low) <{window_dimensions = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 0], [0, 0]]> : tensor<3x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<8x5x4xf32>, tensor<f32>) -> tensor<8x5x4xf32>
    %5 = stablehlo.reshape %4 : (tensor<8x5x4xf32>) -> tensor<2x4x5x4xf32>
    return %5 : tensor<2x4x5x4xf32>
  }
}

//--- stays.mlir
// A piece of the merged dimension itself is taken: it stays merged.
// STAYS: stablehlo.dynamic_slice {{.*}} sizes = [5, 4]
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["model"=4]>
  func.func @main(%b: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %i: tensor<i32>) -> tensor<5x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reshape %b : (tensor<2x4x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.dynamic_slice %0, %i, %zero, sizes = [5, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
    return %1 : tensor<5x4xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which factor of a contraction is split follows from sizes: rows of data, columns and rows of weights.
// RUN: xla-opt %s -split-input-file -xla-auto-sharding | FileCheck %s

// Many rows, small weights: devices take rows, and nothing is communicated.
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  // CHECK-LABEL: func.func @rows(
  // CHECK-SAME:    %arg0: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  // CHECK-SAME:    -> (tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
  // CHECK-NOT:     sdy.reshard
  // CHECK:         return
  func.func @rows(%a: tensor<8192x64xf32>, %b: tensor<64x256xf32>, %c: tensor<256x64xf32>) -> tensor<8192x64xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8192x64xf32>, tensor<64x256xf32>) -> tensor<8192x256xf32>
    %1 = stablehlo.tanh %0 : tensor<8192x256xf32>
    %2 = stablehlo.dot_general %1, %c, contracting_dims = [1] x [0] : (tensor<8192x256xf32>, tensor<256x64xf32>) -> tensor<8192x64xf32>
    return %2 : tensor<8192x64xf32>
  }
}

// -----

// Few rows, large weights: columns of the first, rows of the second, as Megatron-LM does it; the sum is scattered.
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  // CHECK-LABEL: func.func @weights(
  // CHECK-SAME:    %arg1: tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}
  // CHECK-SAME:    %arg2: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  // CHECK:         %[[SUM:.*]] = stablehlo.dot_general {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK:         sdy.reshard %[[SUM]]
  func.func @weights(%a: tensor<8x1024xf32>, %b: tensor<1024x4096xf32>, %c: tensor<4096x1024xf32>) -> tensor<8x1024xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x1024xf32>, tensor<1024x4096xf32>) -> tensor<8x4096xf32>
    %1 = stablehlo.tanh %0 : tensor<8x4096xf32>
    %2 = stablehlo.dot_general %1, %c, contracting_dims = [1] x [0] : (tensor<8x4096xf32>, tensor<4096x1024xf32>) -> tensor<8x1024xf32>
    return %2 : tensor<8x1024xf32>
  }
}

// -----

// What the user wrote stays: whole, over one axis of two, and open ones may get more.
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK-LABEL: func.func @annotated(
  // CHECK-SAME:    %arg0: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
  // CHECK-SAME:    %arg1: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"{{(, "y")?}}}, {}]>}
  // CHECK-SAME:    -> (tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>})
  func.func @annotated(%a: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                       %b: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>})
      -> (tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
    %0 = stablehlo.add %a, %b : tensor<8192x64xf32>
    return %0 : tensor<8192x64xf32>
  }
}

// -----

// A result in the place of an argument is split as that is.
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  // CHECK-LABEL: func.func @update(
  // CHECK-SAME:    %arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [[PLACE:\[.*\]]]>, tf.aliasing_output = 0 : i32}
  // CHECK-SAME:    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [[PLACE]]>})
  func.func @update(%w: tensor<64x64xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<8192x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8192x64xf32>, tensor<8192x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.subtract %w, %0 : tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
}

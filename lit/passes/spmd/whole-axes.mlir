// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result that nobody annotated is split along whole axes only: its caller has no other words for it. Ten columns could be on two of the
// four devices of "s". Whoever asks for a part of an axis gets it.
// RUN: xla-compile %s --emit=partitioned | FileCheck %s
// CHECK: @main(%arg0: tensor<2x2x6xf32> {mhlo.sharding = "{devices=[2,4,1]<=[8]}"}, %arg1: tensor<4x3xf32> {mhlo.sharding = "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"})
// CHECK-SAME: -> (tensor<2x10xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}, tensor<4x3xf32> {mhlo.sharding = "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"})
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["d"=2, "s"=4]>
  func.func @main(%x: tensor<4x8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"s"}, {}]>},
                  %y: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"s":(1)2}, {}]>})
      -> (tensor<4x10xf32>, tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"s":(1)2}, {}]>}) {
    %0 = stablehlo.reshape %x : (tensor<4x8x6xf32>) -> tensor<4x48xf32>
    %1 = stablehlo.slice %0 [0:4, 0:48:5] : (tensor<4x48xf32>) -> tensor<4x10xf32>
    %2 = stablehlo.negate %y : tensor<8x3xf32>
    return %1, %2 : tensor<4x10xf32>, tensor<8x3xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of devices that no mesh has in common, in one program: parts go to the devices that the other list says, and are gathered where
// tiles do not meet.
// RUN: split-file %s %t
// RUN: xla-compile %t/places.mlir --emit=partitioned | FileCheck %s --check-prefix=PLACES
// RUN: xla-compile %t/exchange.mlir --emit=partitioned | FileCheck %s --check-prefix=EXCHANGE
// RUN: xla-run %t/places.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/exchange.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/computed.mlir --verify --quiet --cache-dir=off

// As many tiles of each dimension: everybody sends one tile and gets one.
// PLACES: "stablehlo.collective_permute"
// PLACES-SAME: dense<{{\[}}[0, 0], [2, 1], [1, 2], [3, 3]]>
// PLACES-NOT: all_gather
// PLACES: return

//--- places.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,3}"}) -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,2,1,3}"}) {
    %0 = stablehlo.negate %x : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// Rows become tiles of two dimensions on other devices: rows go where they can be exchanged for columns.
// EXCHANGE-NOT: all_gather
// EXCHANGE: "stablehlo.collective_permute"
// EXCHANGE: "stablehlo.all_to_all"{{.*}} : (tensor<2x4xf32>) -> tensor<4x2xf32>
// EXCHANGE-NOT: all_gather
// EXCHANGE: return

//--- exchange.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]3,1,2,0}"}) -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,2,1,3}"}) {
    %0 = stablehlo.negate %x : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// Both meet in operations, with sizes that the devices do not divide.
//--- computed.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<12x10xf32> {mhlo.sharding = "{devices=[2,4]0,2,1,3,4,6,5,7}"}, %y: tensor<12x10xf32> {mhlo.sharding = "{devices=[8,1]3,1,2,0,7,4,6,5}"},
                  %z: tensor<10x9xf32> {mhlo.sharding = "{devices=[1,4,2]7,6,5,4,3,2,1,0 last_tile_dim_replicate}"})
      -> (tensor<12x10xf32> {mhlo.sharding = "{devices=[4,2]1,0,3,2,5,4,7,6}"}, tensor<12x9xf32>, tensor<10xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.add %x, %y : tensor<12x10xf32>
    %1 = stablehlo.dot_general %0, %z, contracting_dims = [1] x [0] : (tensor<12x10xf32>, tensor<10x9xf32>) -> tensor<12x9xf32>
    %2 = stablehlo.custom_call @Sharding(%y) {mhlo.sharding = "{devices=[2,2,2]0,3,1,2,4,7,5,6 last_tile_dim_replicate}"} : (tensor<12x10xf32>) -> tensor<12x10xf32>
    %3 = stablehlo.multiply %2, %0 : tensor<12x10xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12x10xf32>, tensor<f32>) -> tensor<10xf32>
    return %3, %1, %4 : tensor<12x10xf32>, tensor<12x9xf32>, tensor<10xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings over devices beside a mesh stay, too: in axes of the mesh, also where they name a part of one.
// RUN: split-file %s %t
// RUN: xla-compile %t/kept.mlir --auto-sharding --mesh=a=2,b=4 --emit=sharded --cache-dir=off | FileCheck %s
// RUN: xla-run %t/kept.mlir --auto-sharding --mesh=a=2,b=4 --verify --quiet --cache-dir=off
// RUN: not xla-compile %t/kept.mlir --auto-sharding --mesh=a=4,b=4 --emit=sharded --cache-dir=off 2>&1 | FileCheck %s --check-prefix=OTHER
// CHECK: %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
// CHECK-SAME: %arg1: tensor<8x96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}
// CHECK-SAME: %arg2: tensor<96x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b":(1)2}, {}]>}
// OTHER: UNIMPLEMENTED: automatic sharding over {{.*}} with the sharding "{devices=[8,1]<=[8]}": it is about other devices

//--- kept.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<16x8xf32> {mhlo.sharding = "{replicated}"}, %w: tensor<8x96xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"},
                  %v: tensor<96x128xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}) -> tensor<16x128xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x96xf32>) -> tensor<16x96xf32>
    %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<16x96xf32>, tensor<96x128xf32>) -> tensor<16x128xf32>
    return %1 : tensor<16x128xf32>
  }
}

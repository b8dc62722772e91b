// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A limit that no plan can keep is an error that says what would be enough, and which values take most if each is split as far as possible: groups of
// one kind and type, the largest first, at most four of them.
// RUN: not xla-opt %s -xla-auto-sharding="memory-per-device=1000 plan-memory=values" 2>&1 >/dev/null | FileCheck %s
// CHECK: error: automatic sharding finds no plan: {{.*}}every choice needs at least [[NEED:[0-9]+]] bytes
// CHECK-SAME: ; the largest values at the worst time, each split as far as possible: 1 x argument : tensor<4096x4096xf32> (16777216 bytes), 3 x dot_general : tensor<64x4096xf32> (786432 bytes), 1 x add : tensor<64x4096xf32> (262144 bytes), 1 x argument : tensor<64x4096xf32> (262144 bytes){{$}}
// CHECK: note: the program as annotated: takes {{[0-9]+}} bytes on a device, {{[0-9]+}} more than the limit
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<64x4096xf32>, %w: tensor<4096x4096xf32>, %small: tensor<64x8xf32>, %tiny: tensor<8xf32>) -> tensor<64x4096xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x4096xf32>, tensor<4096x4096xf32>) -> tensor<64x4096xf32>
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<64x4096xf32>, tensor<4096x4096xf32>) -> tensor<64x4096xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x4096xf32>, tensor<4096x4096xf32>) -> tensor<64x4096xf32>
    %3 = stablehlo.add %0, %1 : tensor<64x4096xf32>
    %4 = stablehlo.add %3, %2 : tensor<64x4096xf32>
    return %4 : tensor<64x4096xf32>
  }
}

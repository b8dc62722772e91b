// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// xla-opt stops where xla-compile does.
// RUN: xla-opt %s --emit=sharded | FileCheck %s --check-prefix=SHARDED
// RUN: xla-opt %s --emit partitioned | FileCheck %s --check-prefix=PARTITIONED
// RUN: xla-opt %s --emit=sharded > %t.opt; xla-compile %s --emit=sharded | xla-opt | diff %t.opt -
// RUN: xla-opt %s --emit=partitioned > %t.opt; xla-compile %s --emit=partitioned | xla-opt | diff %t.opt -
// RUN: xla-opt %s --emit=simplified > %t.opt; xla-compile %s --emit=simplified | xla-opt | diff %t.opt -
// RUN: xla-opt %s --emit=fused > %t.opt; xla-compile %s --emit=fused | xla-opt | diff %t.opt -
// RUN: xla-opt %s --emit=stablehlo > %t.opt; xla-opt %s | diff %t.opt -
// Passes that are asked for come before: without shardings nothing is partitioned.
// RUN: xla-opt %s --sdy-drop-sharding-and-mesh --emit=partitioned | FileCheck %s --check-prefix=DROPPED
// RUN: not xla-opt %s --emit=llvm 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SHARDED: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : tensor<8x16xf32>
// SHARDED-NOT: all_reduce
// PARTITIONED: stablehlo.tanh {{.*}}tensor<4x16xf32>
// PARTITIONED: stablehlo.all_reduce
// DROPPED-NOT: all_reduce
// DROPPED: stablehlo.tanh {{.*}}tensor<8x16xf32>
// UNKNOWN: --emit expects one of stablehlo sharded partitioned simplified fused, but got 'llvm'; xla-compile --emit also has stops of single kernels
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["data"=2]>
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<16xf32> {
    %0 = stablehlo.tanh %x : tensor<8x16xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}

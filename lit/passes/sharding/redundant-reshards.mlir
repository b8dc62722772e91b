// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-reshard-to-collectives=keep-redundant-reshards=true | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: xla-opt %s -sdy-reshard-to-collectives | FileCheck %s --check-prefixes=CHECK,GONE
sdy.mesh @mesh = <["a"=2, "b"=2]>

// Nothing moves.
// CHECK-LABEL: @same
func.func @same(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  // KEPT-NEXT: sdy.reshard %arg0
  // GONE-NEXT: return
  %0 = sdy.reshard %x <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @moved
func.func @moved(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.all_to_all
  // CHECK-NOT: reshard
  %0 = sdy.reshard %x <@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

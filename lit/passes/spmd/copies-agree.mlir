// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-spmd-partition | FileCheck %s

// The slices that devices are to keep lie in another order than summands, and differently in the two groups: a reduce_scatter would add
// in different orders, and two copies of one slice would differ in their last bits.
// CHECK-LABEL: @same_order_in_all_groups
// CHECK: stablehlo.all_reduce
// CHECK-NOT: stablehlo.reduce_scatter
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["a"=8], device_ids=[5, 3, 4, 2, 6, 7, 0, 1]>
  func.func @same_order_in_all_groups(%x: tensor<16x8xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a":(1)4}]>}, %y: tensor<8x8xf16>) -> (tensor<16x8xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a":(2)4}]>}) {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
    return %0 : tensor<16x8xf16>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing but StableHLO is left, also where shapes are dynamic.
// RUN: xla-opt %s -chlo-pre-serialization-pipeline | FileCheck %s

// CHECK-LABEL: @square
// CHECK: stablehlo.multiply %arg0, %arg0
// CHECK-NOT: chlo
// CHECK-LABEL: @dynamic
// CHECK-NOT: chlo
// CHECK-NOT: shape.
// CHECK-NOT: index
// CHECK-NOT: unrealized
// CHECK: stablehlo.get_dimension_size
// CHECK: return
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @dynamic(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = chlo.asin %x : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

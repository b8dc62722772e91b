// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that wait share messages, but all of them together pay for one: gradients of a kilobyte are not computed in parts, because their message would
// take longer than the contractions.
// RUN: xla-opt %s -xla-auto-sharding | FileCheck %s
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  // CHECK-LABEL: func.func @gradients(
  // CHECK-NOT:     {"{{[ab]}}"
  // CHECK:         return
  func.func @gradients(%x: tensor<64x3xf32>, %g: tensor<64x3xf32>, %y: tensor<64x3xf32>, %h: tensor<64x3xf32>)
      -> (tensor<3x3xf32>, tensor<3x3xf32>) {
    %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<64x3xf32>, tensor<64x3xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.dot_general %y, %h, contracting_dims = [0] x [0] : (tensor<64x3xf32>, tensor<64x3xf32>) -> tensor<3x3xf32>
    return %0, %1 : tensor<3x3xf32>, tensor<3x3xf32>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,unit-dimensions | FileCheck %s

// Heads of attention: the tensor gets the dimension, and the part is one of its heads.
// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<2x5x24xf32>) -> tensor<2x5x6x4xf32>
// CHECK-NEXT: stablehlo.slice {{.*}} [0:2, 1:5:2, 2:4, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x2x2x4xf32>
// CHECK-NEXT: stablehlo.transpose
func.func @heads(%x: tensor<2x5x24xf32>) -> tensor<2x2x2x4xf32> {
  %0 = stablehlo.slice %x [0:2, 1:5:2, 8:16] : (tensor<2x5x24xf32>) -> tensor<2x2x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x2x8xf32>) -> tensor<2x2x2x4xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x2x2x4xf32>) -> tensor<2x2x2x4xf32>
  return %2 : tensor<2x2x2x4xf32>
}

// The first of two dimensions becomes three.
// CHECK-LABEL: func.func @three(
// CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<24x5xf32>) -> tensor<4x3x2x5xf32>
// CHECK-NEXT: stablehlo.slice {{.*}} [1:3, 0:3, 0:2, 1:4] : (tensor<4x3x2x5xf32>) -> tensor<2x3x2x3xf32>
func.func @three(%x: tensor<24x5xf32>) -> tensor<3x3x2x2xf32> {
  %0 = stablehlo.slice %x [6:18, 1:4] : (tensor<24x5xf32>) -> tensor<12x3xf32>
  %1 = stablehlo.reshape %0 : (tensor<12x3xf32>) -> tensor<2x3x2x3xf32>
  %2 = stablehlo.transpose %1, dims = [3, 1, 2, 0] : (tensor<2x3x2x3xf32>) -> tensor<3x3x2x2xf32>
  return %2 : tensor<3x3x2x2xf32>
}

// Cut inside of a head, not a multiple of a head in all, with a step, read by something else: they stay.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-4: stablehlo.slice %arg{{.*}} -> tensor<2x8xf32>
func.func @others(%x: tensor<2x24xf32>, %y: tensor<2x17xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x2x4xf32>) {
  %0 = stablehlo.slice %x [0:2, 6:14] : (tensor<2x24xf32>) -> tensor<2x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<2x2x4xf32>) -> tensor<2x4x2xf32>
  %3 = stablehlo.slice %y [0:2, 8:16] : (tensor<2x17xf32>) -> tensor<2x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
  %5 = stablehlo.transpose %4, dims = [0, 2, 1] : (tensor<2x2x4xf32>) -> tensor<2x4x2xf32>
  %6 = stablehlo.slice %x [0:2, 8:24:2] : (tensor<2x24xf32>) -> tensor<2x8xf32>
  %7 = stablehlo.reshape %6 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
  %8 = stablehlo.transpose %7, dims = [0, 2, 1] : (tensor<2x2x4xf32>) -> tensor<2x4x2xf32>
  %9 = stablehlo.slice %x [0:2, 8:16] : (tensor<2x24xf32>) -> tensor<2x8xf32>
  %10 = stablehlo.reshape %9 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
  %11 = stablehlo.abs %10 : tensor<2x2x4xf32>
  return %2, %5, %8, %11 : tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x2x4xf32>
}

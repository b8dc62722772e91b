// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A transposition reads a slice in place, also where a reshape between them divides dimensions: heads of attention, cut anywhere.
// RUN: xla-opt %s -xla-fuse-kernels -split-input-file | FileCheck %s
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off

// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: call @transpose
// CHECK-NOT:     call @
// CHECK:       func.func private
// CHECK:         stablehlo.slice %arg0 [0:2, 1:5:2, 7:23]
// CHECK:         stablehlo.reshape
// CHECK:         stablehlo.transpose
func.func @main(%x: tensor<2x5x72xf32>) -> tensor<2x4x2x4xf32> {
  %0 = stablehlo.slice %x [0:2, 1:5:2, 7:23] : (tensor<2x5x72xf32>) -> tensor<2x2x16xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x2x16xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
  return %2 : tensor<2x4x2x4xf32>
}

// -----

// The first of two dimensions becomes three; with a step.
// CHECK-LABEL: func.func @three(
// CHECK-COUNT-1: call @transpose
// CHECK-NOT:     call @
// CHECK:       func.func private
func.func @three(%x: tensor<240x50xf32>) -> tensor<30x3x2x20xf32> {
  %0 = stablehlo.slice %x [0:240:2, 10:40] : (tensor<240x50xf32>) -> tensor<120x30xf32>
  %1 = stablehlo.reshape %0 : (tensor<120x30xf32>) -> tensor<20x3x2x30xf32>
  %2 = stablehlo.transpose %1, dims = [3, 1, 2, 0] : (tensor<20x3x2x30xf32>) -> tensor<30x3x2x20xf32>
  return %2 : tensor<30x3x2x20xf32>
}

// -----

// A reshape that merges cut dimensions stays a step behind the slice.
// CHECK-LABEL: func.func @merges(
// CHECK:         %[[S:.*]] = call @slice
// CHECK:         %[[R:.*]] = stablehlo.reshape %[[S]]
// CHECK:         call @transpose{{.*}}(%[[R]])
func.func @merges(%x: tensor<30x20x50xf32>) -> tensor<300x30xf32> {
  %0 = stablehlo.slice %x [0:30, 5:15, 10:40] : (tensor<30x20x50xf32>) -> tensor<30x10x30xf32>
  %1 = stablehlo.reshape %0 : (tensor<30x10x30xf32>) -> tensor<30x300xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<30x300xf32>) -> tensor<300x30xf32>
  return %2 : tensor<300x30xf32>
}

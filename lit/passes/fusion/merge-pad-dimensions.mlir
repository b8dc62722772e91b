// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few channels get their borders as rows.
// RUN: xla-opt %s -xla-merge-pad-dimensions -xla-fuse-kernels -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @image
// CHECK: %[[ROWS:.*]] = stablehlo.reshape %arg0 : (tensor<8x99x101x3xui8>) -> tensor<8x99x303xui8>
// CHECK: %[[WIDE:.*]] = call @{{.*}}(%[[ROWS]]) : (tensor<8x99x303xui8>) -> tensor<8x104x315xui8>
// CHECK: stablehlo.reshape %[[WIDE]] : (tensor<8x104x315xui8>) -> tensor<8x104x105x3xui8>
// CHECK: low = [0, 2, -3], high = [0, 3, 15], interior = [0, 0, 0]
func.func @image(%x: tensor<8x99x101x3xui8>) -> tensor<8x104x105x3xui8> {
  %zero = stablehlo.constant dense<0> : tensor<ui8>
  %0 = stablehlo.pad %x, %zero, low = [0, 2, -1, 0], high = [0, 3, 5, 0], interior = [0, 0, 0, 0] : (tensor<8x99x101x3xui8>, tensor<ui8>) -> tensor<8x104x105x3xui8>
  return %0 : tensor<8x104x105x3xui8>
}

// -----

// Many channels; borders of the channels, between columns, of what is computed there, for what is computed there.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: stablehlo.reshape
func.func @left_alone(%x: tensor<8x9x32xf32>, %y: tensor<8x9x3xf32>) -> (tensor<8x11x32xf32>, tensor<8x9x5xf32>, tensor<8x17x3xf32>, tensor<8x11x3xf32>, tensor<8x11x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<8x9x32xf32>, tensor<f32>) -> tensor<8x11x32xf32>
  %1 = stablehlo.pad %y, %zero, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<8x9x3xf32>, tensor<f32>) -> tensor<8x9x5xf32>
  %2 = stablehlo.pad %y, %zero, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 1, 0] : (tensor<8x9x3xf32>, tensor<f32>) -> tensor<8x17x3xf32>
  %e = stablehlo.exponential %y : tensor<8x9x3xf32>
  %3 = stablehlo.pad %e, %zero, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<8x9x3xf32>, tensor<f32>) -> tensor<8x11x3xf32>
  %p = stablehlo.pad %y, %zero, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<8x9x3xf32>, tensor<f32>) -> tensor<8x11x3xf32>
  %4 = stablehlo.exponential %p : tensor<8x11x3xf32>
  return %0, %1, %2, %3, %4 : tensor<8x11x32xf32>, tensor<8x9x5xf32>, tensor<8x17x3xf32>, tensor<8x11x3xf32>, tensor<8x11x3xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -stablehlo-aggressive-simplification -split-input-file | FileCheck %s

// Positions below 2^31 are counted in 32 bits, and their high half is zero.
// CHECK-LABEL: @halves
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<300x7xui64>
// CHECK: stablehlo.iota dim = 0 : tensor<300x7xui32>
// CHECK: stablehlo.iota dim = 1 : tensor<300x7xui32>
// CHECK: %[[LOW:.*]] = stablehlo.add {{.*}} : tensor<300x7xui32>
// CHECK-NEXT: %[[HIGH:.*]] = stablehlo.convert %[[ZERO]]
// CHECK-NEXT: return %[[LOW]], %[[HIGH]]
func.func @halves() -> (tensor<300x7xui32>, tensor<300x7xui32>) {
  %seven = stablehlo.constant dense<7> : tensor<300x7xui64>
  %half = stablehlo.constant dense<32> : tensor<300x7xui64>
  %row = stablehlo.iota dim = 0 : tensor<300x7xui64>
  %column = stablehlo.iota dim = 1 : tensor<300x7xui64>
  %first = stablehlo.multiply %row, %seven : tensor<300x7xui64>
  %place = stablehlo.add %first, %column : tensor<300x7xui64>
  %low = stablehlo.convert %place : (tensor<300x7xui64>) -> tensor<300x7xui32>
  %shifted = stablehlo.shift_right_logical %place, %half : tensor<300x7xui64>
  %high = stablehlo.convert %shifted : (tensor<300x7xui64>) -> tensor<300x7xui32>
  return %low, %high : tensor<300x7xui32>, tensor<300x7xui32>
}

// -----

// 300 is no number of eight bits, and 300 >> 8 is not zero; other numbers may be as large as they like.
// CHECK-LABEL: @kept
// CHECK: stablehlo.iota dim = 0 : tensor<301xui32>
// CHECK: stablehlo.convert
// CHECK: stablehlo.shift_right_logical
// CHECK: stablehlo.convert %arg0
func.func @kept(%x: tensor<301xui64>) -> (tensor<301xui8>, tensor<301xui32>, tensor<301xui32>) {
  %eight = stablehlo.constant dense<8> : tensor<301xui32>
  %0 = stablehlo.iota dim = 0 : tensor<301xui32>
  %1 = stablehlo.convert %0 : (tensor<301xui32>) -> tensor<301xui8>
  %2 = stablehlo.shift_right_logical %0, %eight : tensor<301xui32>
  %3 = stablehlo.convert %x : (tensor<301xui64>) -> tensor<301xui32>
  return %1, %2, %3 : tensor<301xui8>, tensor<301xui32>, tensor<301xui32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,indices -split-input-file | FileCheck %s

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

// -----

// A position is not negative.
// CHECK-LABEL: @not_negative
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xi32>)
// CHECK: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<3xi32>
// CHECK: %[[P:.*]] = stablehlo.broadcast_in_dim %[[I]], dims = [0]
// CHECK: %[[LESS:.*]] = stablehlo.compare LT, %[[X]], %{{.*}}
// CHECK: return %[[P]], %[[LESS]]
func.func @not_negative(%x: tensor<3x5xi32>) -> (tensor<3x5xi32>, tensor<3x5xi1>) {
  %zero = stablehlo.constant dense<0> : tensor<3x5xi32>
  %size = stablehlo.constant dense<3> : tensor<3x5xi32>
  %i = stablehlo.iota dim = 0 : tensor<3xi32>
  %p = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<3xi32>) -> tensor<3x5xi32>
  %less = stablehlo.compare LT, %p, %zero : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<3x5xi1>
  %end = stablehlo.add %p, %size : tensor<3x5xi32>
  %0 = stablehlo.select %less, %end, %p : tensor<3x5xi1>, tensor<3x5xi32>
  %1 = stablehlo.compare LT, %x, %zero : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<3x5xi1>
  return %0, %1 : tensor<3x5xi32>, tensor<3x5xi1>
}

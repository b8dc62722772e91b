// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A large value that is converted between two reshapes, which leave its rows as they are, is computed in blocks of rows: the reshapes go.
// RUN: xla-opt %s -xla-block-rows=min-bytes=262144 | FileCheck %s
// CHECK-LABEL: func @does(
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.reshape
// CHECK: return
func.func @does(%h: tensor<512x32xf32>, %w: tensor<256x32xf32>) -> (tensor<512x32xf32>, tensor<256x32xf32>) {
  %logits = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<512x32xf32>, tensor<256x32xf32>) -> tensor<512x256xf32>
  %apart = stablehlo.reshape %logits : (tensor<512x256xf32>) -> tensor<2x256x256xf32>
  %narrow = stablehlo.convert %apart : (tensor<2x256x256xf32>) -> tensor<2x256x256xbf16>
  %together = stablehlo.reshape %narrow : (tensor<2x256x256xbf16>) -> tensor<512x256xbf16>
  %wide = stablehlo.convert %together : (tensor<512x256xbf16>) -> tensor<512x256xf32>
  %bent = stablehlo.tanh %wide : tensor<512x256xf32>
  %gh = stablehlo.dot_general %bent, %w, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x32xf32>) -> tensor<512x32xf32>
  %gw = stablehlo.dot_general %bent, %h, contracting_dims = [0] x [0] : (tensor<512x256xf32>, tensor<512x32xf32>) -> tensor<256x32xf32>
  return %gh, %gw : tensor<512x32xf32>, tensor<256x32xf32>
}

// One dimension would lie in two rows' places: the reshape is kept, and the value is read as a whole.
// CHECK-LABEL: func @does_not(
// CHECK: stablehlo.reshape
// CHECK-NOT: stablehlo.while
func.func @does_not(%h: tensor<512x32xf32>, %w: tensor<256x32xf32>) -> tensor<131072xf32> {
  %logits = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<512x32xf32>, tensor<256x32xf32>) -> tensor<512x256xf32>
  %flat = stablehlo.reshape %logits : (tensor<512x256xf32>) -> tensor<131072xf32>
  return %flat : tensor<131072xf32>
}

// A conversion to complex numbers stays where it is.
// CHECK-LABEL: func @complex(
// CHECK: stablehlo.reshape
// CHECK-NEXT: stablehlo.convert
func.func @complex(%x: tensor<1xi64>) -> tensor<complex<f32>> {
  %0 = stablehlo.reshape %x : (tensor<1xi64>) -> tensor<i64>
  %1 = stablehlo.convert %0 : (tensor<i64>) -> tensor<complex<f32>>
  return %1 : tensor<complex<f32>>
}

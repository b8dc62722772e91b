// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dimension of more than four indices: two reshapes of padding divide each of the 32 elements' five factors of two from the others.
// RUN: xla-opt %s -xla-lower-to-linalg -cse -xla-emit-kernels=target=avx512 | FileCheck %s

// CHECK-LABEL: func.func private @divided_range(
// CHECK-SAME:    millrace.emitter = "row"
func.func @divided(%x: tensor<4xf32>) -> tensor<1x32xf32> attributes {millrace.kernel} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %image = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<1x1x4xf32>
  %padded = stablehlo.pad %image, %one, low = [1, 1, 0], high = [0, 2, 0], interior = [0, 0, 0] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
  %other = stablehlo.reshape %padded : (tensor<2x4x4xf32>) -> tensor<4x4x2x1xf32>
  %row = stablehlo.reshape %other : (tensor<4x4x2x1xf32>) -> tensor<1x32xf32>
  return %row : tensor<1x32xf32>
}

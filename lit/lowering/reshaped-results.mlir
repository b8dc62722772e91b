// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel writes its result where the program returns it in another shape.
// RUN: xla-compile %s --emit=program | FileCheck %s
// RUN: xla-run %s --verify

// CHECK: = result 0
// CHECK-NOT: copy
func.func @main(%x: tensor<64x32xf32>) -> (tensor<2x1024xf32>, tensor<32xf32>) {
  %0 = stablehlo.tanh %x : tensor<64x32xf32>
  %1 = stablehlo.reshape %0 : (tensor<64x32xf32>) -> tensor<2x1024xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
  return %1, %3 : tensor<2x1024xf32>, tensor<32xf32>
}

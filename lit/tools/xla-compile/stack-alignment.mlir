// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-compile %s --target=avx2 --emit=asm --cache-dir=off | FileCheck %s

// A kernel with vectors aligns its stack itself: what it spills lies neither across cache lines nor across pages, whoever calls it.
// CHECK: andq $-32, %rsp
// CHECK: vmaxps
func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %s = stablehlo.subtract %x, %mb : tensor<1024x1024xf32>
  %e = stablehlo.exponential %s : tensor<1024x1024xf32>
  %t = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %r = stablehlo.divide %e, %tb : tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

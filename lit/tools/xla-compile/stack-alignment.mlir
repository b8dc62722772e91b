// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-compile %s --target=avx2 --emit=asm --cache-dir=off | FileCheck %s

// A kernel that spills vectors aligns its stack itself: what it spills lies neither across cache lines nor across pages, whoever calls it.
// CHECK: andq $-32, %rsp
// CHECK: %ymm{{[0-9]+}}, {{[0-9]*}}(%rsp)
func.func @main(%x: tensor<512x3072xf32>, %y: tensor<512x3072xf32>) -> tensor<512x3072xf32> {
  %0 = stablehlo.power %x, %y : tensor<512x3072xf32>
  return %0 : tensor<512x3072xf32>
}

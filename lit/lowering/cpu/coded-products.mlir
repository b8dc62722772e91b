// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of bytes times two codes in a byte use the instruction that the processor has for products of bytes: with codes of at most 15 also vpmaddubsw.
// RUN: xla-compile %s --target=x86-64 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=SSE2
// RUN: xla-compile %s --target=x86-64-v3 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=AVX2
// RUN: xla-compile %s --target=x86-64-v4 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=AVX512
// RUN: xla-compile %s --target=alderlake --cache-dir=off --emit=asm | FileCheck %s --check-prefix=VNNI
// RUN: xla-compile %s --target=cascadelake --cache-dir=off --emit=asm | FileCheck %s --check-prefix=VNNI512
// RUN: xla-compile %s --target=aarch64-dotprod --cache-dir=off --emit=asm | FileCheck %s --check-prefix=ARM
// RUN: xla-compile %s --target=aarch64 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=OLDARM

// SSE2: pmaddwd {{.*}}%xmm
// AVX2: vpmaddubsw {{.*}}%ymm
// AVX512: vpmaddubsw {{.*}}%zmm
// VNNI: {vex} vpdpbusd {{.*}}%ymm
// VNNI512: vpdpbusd {{.*}}%zmm
// ARM: sdot v{{[0-9]+}}.4s, v{{[0-9]+}}.16b
// OLDARM: mla v{{[0-9]+}}.4s
func.func @main(%x: tensor<3x256xi8>, %bytes: tensor<96x4x32xi8>, %scales: tensor<96x4xf32>) -> tensor<3x96xf32> {
  %c = stablehlo.bitcast_convert %bytes : (tensor<96x4x32xi8>) -> tensor<96x4x32x2xi4>
  %g = stablehlo.reshape %c : (tensor<96x4x32x2xi4>) -> tensor<96x4x64xi4>
  %f = stablehlo.convert %g : (tensor<96x4x64xi4>) -> tensor<96x4x64xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x4xf32>) -> tensor<96x4x64xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x4x64xf32>
  %w = stablehlo.reshape %m : (tensor<96x4x64xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<3x256xf32>, tensor<96x256xf32>) -> tensor<3x96xf32>
  return %result : tensor<3x96xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of bytes with 32-bit sums use the instruction that the processor has for them, and consumers are computed on the sums.
// RUN: xla-compile %s --target=x86-64 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=SSE2
// RUN: xla-compile %s --target=x86-64-v3 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=AVX2
// RUN: xla-compile %s --target=x86-64-v4 --cache-dir=off --emit=asm | FileCheck %s --check-prefix=AVX512
// RUN: xla-compile %s --target=alderlake --cache-dir=off --emit=asm | FileCheck %s --check-prefix=VNNI
// RUN: xla-compile %s --target=cascadelake --cache-dir=off --emit=asm | FileCheck %s --check-prefix=VNNI512
// RUN: xla-compile %s --target=sapphirerapids --cache-dir=off --emit=asm | FileCheck %s --check-prefix=AMX
// RUN: xla-compile %s --target=aarch64-dotprod --cache-dir=off --emit=asm | FileCheck %s --check-prefix=ARM
// RUN: xla-compile %s --target=x86-64-v3 --cache-dir=off --emit=fused | FileCheck %s --check-prefix=FUSED

// SSE2: pmaddwd {{.*}}%xmm
// AVX2: vpmaddwd {{.*}}%ymm
// AVX512: vpmaddwd {{.*}}%zmm
// VNNI: {vex} vpdpbusd {{.*}}%ymm
// VNNI512: vpdpbusd {{.*}}%zmm
// AMX: tdpbssd
// ARM: sdot v{{[0-9]+}}.4s, v{{[0-9]+}}.16b

// FUSED: func.func private @[[K:.*]](
// FUSED: stablehlo.dot_general
// FUSED-NEXT: stablehlo.convert
// FUSED: stablehlo.multiply
func.func @main(%a: tensor<64x256xi8>, %b: tensor<256x192xi8>, %scales: tensor<192xf32>) -> tensor<64x192xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x256xi8>, tensor<256x192xi8>) -> tensor<64x192xi32>
  %1 = stablehlo.convert %0 : (tensor<64x192xi32>) -> tensor<64x192xf32>
  %2 = stablehlo.broadcast_in_dim %scales, dims = [1] : (tensor<192xf32>) -> tensor<64x192xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<64x192xf32>
  return %3 : tensor<64x192xf32>
}

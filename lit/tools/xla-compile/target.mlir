// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-compile %s --target=avx2 --emit=asm | FileCheck %s --check-prefix=AVX2
// RUN: xla-compile %s --target=avx512 --emit=asm | FileCheck %s --check-prefix=AVX512
// RUN: xla-compile %s --target=aarch64 --emit=asm | FileCheck %s --check-prefix=ARM
// RUN: xla-compile %s --target=x86-64 --cache-dir=off -o %t.mr
// RUN: xla-run %t.mr --quiet
// RUN: xla-compile %s --target=aarch64 --cache-dir=off -o %t.arm.mr
// RUN: not xla-run %t.arm.mr 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not xla-compile %s --target=z80 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// AVX2: vfmadd{{.*}}%ymm
// AVX2-NOT: %zmm
// AVX512: vfmadd{{.*}}%zmm
// ARM: fmla{{[[:space:]]}}v{{[0-9]+}}.4s
// OTHER: xla-run: error: the program was compiled for 'aarch64-unknown-linux-gnu', this is '
// UNKNOWN: xla-compile: error: --target expects host, avx2, avx512, aarch64, aarch64-dotprod or one of {{.*}} znver4 {{.*}}, but got 'z80'
func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x80xf32>) -> tensor<64x80xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x80xf32>) -> tensor<64x80xf32>
  return %0 : tensor<64x80xf32>
}

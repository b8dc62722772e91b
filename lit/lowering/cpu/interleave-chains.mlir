// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An iteration computes two vectors. Their steps take turns: the second one's first step comes before the first one's products, and no
// store before the second one's load.
// RUN: xla-compile %s --target=avx2 --emit=llvm --cache-dir=off | FileCheck %s

// CHECK: load <8 x float>
// CHECK-NOT: store
// CHECK: load <8 x float>
// CHECK: llvm.fma.v8f32({{.*}}0x3FF7154760000000
// CHECK-NOT: fmul
// CHECK: llvm.fma.v8f32({{.*}}0x3FF7154760000000
// CHECK: fmul
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = stablehlo.exponential %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

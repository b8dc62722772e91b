// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function of the runtime computes goes straight to the program's result.
// RUN: xla-compile %s --emit=program --cache-dir=off -o - | FileCheck %s
// CHECK:     custom_call @millrace_fft(%0) -> (%1)
// CHECK-NOT: copy
func.func @main(%x: tensor<64x100xcomplex<f32>>) -> tensor<64x100xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [100] : (tensor<64x100xcomplex<f32>>) -> tensor<64x100xcomplex<f32>>
  return %0 : tensor<64x100xcomplex<f32>>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every x86-64 processor has SSE2: sums of f64 are rounded to f64, not those of the x87 unit with its 64 bits of significand.
// RUN: xla-compile %s --emit=asm --target=x86-64 | FileCheck %s
// CHECK: addpd
// CHECK-NOT: {{fadd|fld}}
func.func @main(%x: tensor<64xf64>, %y: tensor<64xf64>) -> tensor<64xf64> {
  %0 = stablehlo.add %x, %y : tensor<64xf64>
  return %0 : tensor<64xf64>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bfloat16.cpp - bf16 to and from f32 --------------------------------===//
// By integer operations everywhere: AVX512-BF16's conversion flushes subnormals, and without it LLVM calls a library.
#include "lowering/cpu/math/Functions.h"

using namespace mlir;

namespace millrace::lowering {

Value extendBf16(MathBuilder &b, Value x) {
  Type type = x.getType();
  return b.bitcast(b.shli(b.extui(b.bits(x), b.intLike(type, 32)), 16), b.f32Like(type));
}

Value roundToBf16(MathBuilder &b, Value x) {
  Type type = x.getType();
  Value bits = b.bits(x);
  Value odd = b.andi(b.shrui(bits, 16), 1);
  Value rounded = b.addi(b.addi(bits, odd), 0x7fff);
  // Rounding up could turn a NaN into an infinity or zero: make it quiet instead.
  rounded = b.select(b.isNan(x), b.ori(bits, 0x400000), rounded);
  Value top = b.trunci(b.shrui(rounded, 16), b.intLike(type, 16));
  return b.bitcast(top, b.typeLike(type, b.builder.getBF16Type()));
}

Value topOfBf16(MathBuilder &b, Value x) {
  Value top = b.trunci(b.shrui(b.bits(x), 16), b.intLike(x.getType(), 16));
  return b.bitcast(top, b.typeLike(x.getType(), b.builder.getBF16Type()));
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bfloat16.cpp - bf16 to and from f32 --------------------------------===//
// By integer operations everywhere: AVX512-BF16's conversion flushes subnormals, and without it LLVM calls a library.
#include "lowering/cpu/math/Functions.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::lowering {

/// A NaN among the lanes of `x` has zeros where a bf16 has none: x is computed from bf16 numbers, and operations hand on the NaN of an
/// operand, or make one of ones and zeros. Functions are not expanded yet when what becomes of their results is.
static bool onlyHasShortNans(Value x) {
  // Values that are looked through for a NaN: a bound of the search. Unit: values. Source: judgement, not measured alone; commit 03ca61f has the
  // figures of the whole change.
  constexpr size_t kMaxValues = 32;
  llvm::SetVector<Value> seen;
  seen.insert(x);
  for (size_t next = 0; next < seen.size(); ++next) {
    Operation *op = seen[next].getDefiningOp();
    if (!op || seen.size() > kMaxValues)
      return false;
    APFloat number(0.0);
    if (matchPattern(op, m_ConstantFloat(&number))) {
      if (number.isNaN())
        return false;
    } else if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
      continue;
    } else if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
      if (!getElementTypeOrSelf(extend.getIn().getType()).isBF16())
        return false;
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      seen.insert(select.getTrueValue());
      seen.insert(select.getFalseValue());
    } else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, vector::BroadcastOp>(op) ||
               isa<math::MathDialect>(op->getDialect())) {
      seen.insert(op->operand_begin(), op->operand_end());
    } else {
      return false;
    }
  }
  return true;
}

Value extendBf16(MathBuilder &b, Value x) {
  Type type = x.getType();
  return b.bitcast(b.shli(b.extui(b.bits(x), b.intLike(type, 32)), 16), b.f32Like(type));
}

Value roundToBf16(MathBuilder &b, Value x) {
  Type type = x.getType();
  Value bits = b.bits(x);
  Value rounded;
  if (b.canScale(type)) { // Where masks have registers, the choice of a number is one operation less.
    Value isOdd = b.cmpi(MathBuilder::CmpI::ne, b.andi(bits, 0x10000), 0);
    rounded = b.addi(bits, b.select(isOdd, b.i(0x8000, bits.getType()), b.i(0x7fff, bits.getType())));
  } else {
    rounded = b.addi(b.addi(bits, b.andi(b.shrui(bits, 16), 1)), 0x7fff);
  }
  // Rounding up could turn a NaN into an infinity or zero: make it quiet instead.
  if (!onlyHasShortNans(x))
    rounded = b.select(b.isNan(x), b.ori(bits, 0x400000), rounded);
  Value top = b.trunci(b.shrui(rounded, 16), b.intLike(type, 16));
  return b.bitcast(top, b.typeLike(type, b.builder.getBF16Type()));
}

Value topOfBf16(MathBuilder &b, Value x) {
  Value top = b.trunci(b.shrui(b.bits(x), 16), b.intLike(x.getType(), 16));
  return b.bitcast(top, b.typeLike(x.getType(), b.builder.getBF16Type()));
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IntegerDivision.cpp - Quotients of vectors of integers --------------===//
// No processor divides vectors of integers: LLVM takes them apart. A quotient of floats that hold both numbers exactly lies at least
// 1 / divisor below the next integer, which is more than its rounding moves it: truncated, it is the quotient of the integers.
#include "lowering/cpu/math/Functions.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;

namespace millrace::lowering {

Value divideIntegers(MathBuilder &b, Operation *op) {
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op), isUnsigned = isa<arith::DivUIOp, arith::RemUIOp>(op);
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto type = dyn_cast<VectorType>(x.getType());
  unsigned width = type ? type.getElementTypeBitWidth() : 0;
  Attribute constant;
  if ((width != 8 && width != 16 && width != 32) || matchPattern(y, m_Constant(&constant))) // LLVM multiplies with reciprocals
    return {};
  Value quotient;
  if (width < 32) {
    VectorType f32 = type.clone(b.builder.getF32Type()), i32 = type.clone(b.builder.getI32Type());
    auto number = [&](Value v) {
      v = isUnsigned ? arith::ExtUIOp::create(b.builder, b.loc, i32, v).getResult() : arith::ExtSIOp::create(b.builder, b.loc, i32, v).getResult();
      return b.sitofp(v, f32);
    };
    quotient = b.trunci(b.fptosi(b.divf(number(x), number(y)), i32), type);
  } else {
    // Unsigned numbers go through the signed conversions, which every processor has.
    VectorType f64 = type.clone(b.builder.getF64Type());
    Value top = b.i(std::numeric_limits<int32_t>::min(), type);
    double half = 0x1p31;
    auto number = [&](Value v) { return isUnsigned ? b.addf(b.sitofp(b.xori(v, top), f64), half) : b.sitofp(v, f64); };
    Value real = b.divf(number(x), number(y));
    if (isUnsigned)
      quotient = b.xori(b.fptosi(b.subf(b.floor(real), half), type), top);
    else
      quotient = b.fptosi(real, type);
  }
  return isRemainder ? b.subi(x, b.muli(quotient, y)) : quotient;
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarCompare.cpp - Order of scalars: compare, min, max, clamp -----===//
// Input:   %r = stablehlo.compare LT, %a, %b, TOTALORDER : tensor<f32> with f32 scalars
// Output:  arith comparisons and selects
// Orders: floats IEEE (NaN unordered, min/max propagate NaN, -0 < +0 in min/max) or total; unsigned integers and i1
// unsigned; complex numbers equal or not in compare, lexicographic in min/max.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace millrace::lowering {
namespace {

using Direction = stablehlo::ComparisonDirection;

CmpIPredicate integerPredicate(Direction direction, bool isUnsigned) {
  switch (direction) {
  case Direction::EQ:
    return CmpIPredicate::eq;
  case Direction::NE:
    return CmpIPredicate::ne;
  case Direction::GE:
    return isUnsigned ? CmpIPredicate::uge : CmpIPredicate::sge;
  case Direction::GT:
    return isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt;
  case Direction::LE:
    return isUnsigned ? CmpIPredicate::ule : CmpIPredicate::sle;
  case Direction::LT:
    return isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt;
  }
  llvm_unreachable("comparison direction");
}

CmpFPredicate floatPredicate(Direction direction) {
  switch (direction) {
  case Direction::EQ:
    return CmpFPredicate::OEQ;
  case Direction::NE:
    return CmpFPredicate::UNE;
  case Direction::GE:
    return CmpFPredicate::OGE;
  case Direction::GT:
    return CmpFPredicate::OGT;
  case Direction::LE:
    return CmpFPredicate::OLE;
  case Direction::LT:
    return CmpFPredicate::OLT;
  }
  llvm_unreachable("comparison direction");
}

/// Returns the integer whose signed order is -NaN < -inf < ... < -0 < +0 < ... < inf < NaN: the magnitude bits of negative floats are inverted. In a
/// type without -0 the only NaN has the bits of -0, and so is negative.
Value totalOrderKey(ScalarBuilder &b, Value x, FloatType element) {
  Value bits = b.bits(x);
  unsigned width = b.widthOf(bits);
  Value key = b.xori(bits, b.shrui(b.shrsi(bits, width - 1), 1));
  if (APFloat::getZero(element.getFloatSemantics(), /*Negative=*/true).isNegative() ||
      !APFloat::semanticsHasSignedRepr(element.getFloatSemantics()))
    return key;
  return b.select(b.cmpf(CmpFPredicate::UNO, x, x), b.i(APInt::getSignedMinValue(width).getSExtValue(), bits.getType()), key);
}

/// Compares with all NaN equal and greater than the numbers.
Value weakOrder(ScalarBuilder &b, Direction direction, Value x, Value y) {
  auto isBefore = [&](Value first, Value second) {
    Value isLess = b.cmpf(CmpFPredicate::OLT, first, second);
    Value isNumber = b.cmpf(CmpFPredicate::ORD, first, first);
    return b.ori(isLess, b.andi(isNumber, b.isNan(second)));
  };
  auto isEqual = [&] { return b.ori(b.cmpf(CmpFPredicate::OEQ, x, y), b.andi(b.isNan(x), b.isNan(y))); };
  switch (direction) {
  case Direction::EQ:
    return isEqual();
  case Direction::NE:
    return b.not1(isEqual());
  case Direction::GE:
    return b.not1(isBefore(x, y));
  case Direction::GT:
    return isBefore(y, x);
  case Direction::LE:
    return b.not1(isBefore(y, x));
  case Direction::LT:
    return isBefore(x, y);
  }
  llvm_unreachable("comparison direction");
}

Value emitCompare(ScalarBuilder &b, const ScalarOp &op, stablehlo::CompareOp compare) {
  Value x = op.operands[0], y = op.operands[1];
  Direction direction = compare.getComparisonDirection();
  if (op.isComplex()) {
    Value re = b.cmpf(floatPredicate(direction), b.re(x), b.re(y));
    Value im = b.cmpf(floatPredicate(direction), b.im(x), b.im(y));
    if (direction == Direction::EQ)
      return b.andi(re, im);
    if (direction == Direction::NE)
      return b.ori(re, im);
    return {};
  }
  if (op.isFloat()) {
    auto element = cast<FloatType>(op.operandElement);
    if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return b.cmpi(integerPredicate(direction, /*isUnsigned=*/false), totalOrderKey(b, x, element), totalOrderKey(b, y, element));
    if (compare.getCompareType() == stablehlo::ComparisonType::WEAKORDER)
      return weakOrder(b, direction, x, y);
    return b.cmpf(floatPredicate(direction), x, y);
  }
  return b.cmpi(integerPredicate(direction, op.isUnsigned()), x, y);
}

Value emitIsFinite(ScalarBuilder &b, Value x) {
  return b.cmpf(CmpFPredicate::OLT, b.absf(x), b.inf(x.getType()));
}

} // namespace

Value emitMinMax(ScalarBuilder &b, const ScalarOp &op, Value x, Value y, bool isMax) {
  if (op.isComplex()) {
    // The pairs (re, im) are compared lexicographically; the result is NaN if either number is.
    CmpFPredicate better = isMax ? CmpFPredicate::OGT : CmpFPredicate::OLT;
    Value xr = b.re(x), yr = b.re(y), xi = b.im(x), yi = b.im(y);
    Value takeX = b.ori(b.cmpf(better, xr, yr),
                        b.andi(b.cmpf(CmpFPredicate::OEQ, xr, yr), b.cmpf(better, xi, yi)));
    Value xNan = b.ori(b.isNan(xr), b.isNan(xi)), yNan = b.ori(b.isNan(yr), b.isNan(yi));
    takeX = b.ori(xNan, b.andi(takeX, b.xori(yNan, b.i(1, yNan.getType()))));
    return b.select(takeX, x, y);
  }
  if (op.isFloat())
    return isMax ? Value(arith::MaximumFOp::create(b.builder, b.loc, x, y))
                 : Value(arith::MinimumFOp::create(b.builder, b.loc, x, y));
  if (op.isBool())
    return isMax ? b.ori(x, y) : b.andi(x, y);
  if (op.isUnsigned())
    return isMax ? Value(arith::MaxUIOp::create(b.builder, b.loc, x, y))
                 : Value(arith::MinUIOp::create(b.builder, b.loc, x, y));
  return isMax ? Value(arith::MaxSIOp::create(b.builder, b.loc, x, y))
               : Value(arith::MinSIOp::create(b.builder, b.loc, x, y));
}

Value emitCompareScalar(ScalarBuilder &b, const ScalarOp &op) {
  using namespace stablehlo;
  ValueRange v = op.operands;
  return TypeSwitch<Operation *, Value>(op.op)
      .Case<CompareOp>([&](CompareOp compare) { return emitCompare(b, op, compare); })
      .Case<MaxOp>([&](auto) { return emitMinMax(b, op, v[0], v[1], /*isMax=*/true); })
      .Case<MinOp>([&](auto) { return emitMinMax(b, op, v[0], v[1], /*isMax=*/false); })
      .Case<ClampOp>([&](auto) {
        Value raised = emitMinMax(b, op, v[1], v[0], /*isMax=*/true);
        return emitMinMax(b, op, raised, v[2], /*isMax=*/false);
      })
      .Case<SelectOp>([&](auto) { return b.select(v[0], v[1], v[2]); })
      .Case<IsFiniteOp>([&](auto) { return emitIsFinite(b, v[0]); })
      .Default([](Operation *) { return Value(); });
}

} // namespace millrace::lowering

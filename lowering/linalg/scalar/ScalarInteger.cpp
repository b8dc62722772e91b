// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarInteger.cpp - Arithmetic and bits of integers and booleans ---===//
// Input:   %r = stablehlo.divide %a, %b : tensor<i32> with i32 scalars
// Output:  arith with every case defined: overflow wraps; x / 0 = -1 (all ones if unsigned), x % 0 = x,
//          min / -1 = min, min % -1 = 0; shifts by >= width give 0 or the sign; n^negative is 0 unless n is 1 or -1.
// Leaves alone operations on floats and complex numbers.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace millrace::lowering {
namespace {

Value emitDivRem(ScalarBuilder &b, Value x, Value y, bool isUnsigned, bool isRem) {
  Type type = x.getType();
  Value zero = b.i(0, type), one = b.i(1, type), minusOne = b.i(-1, type);
  Value byZero = b.cmpi(CmpIPredicate::eq, y, zero);
  Value whenZero = isRem ? x : minusOne;
  if (isUnsigned) {
    Value divisor = b.select(byZero, one, y);
    Value result = isRem ? Value(arith::RemUIOp::create(b.builder, b.loc, x, divisor))
                         : Value(arith::DivUIOp::create(b.builder, b.loc, x, divisor));
    return b.select(byZero, whenZero, result);
  }
  // x / -1 is -x and x % -1 is 0. These are computed without a division, because min / -1 would trap.
  Value byMinusOne = b.cmpi(CmpIPredicate::eq, y, minusOne);
  Value divisor = b.select(b.ori(byZero, byMinusOne), one, y);
  Value result = isRem ? Value(arith::RemSIOp::create(b.builder, b.loc, x, divisor))
                       : Value(arith::DivSIOp::create(b.builder, b.loc, x, divisor));
  result = b.select(byMinusOne, isRem ? zero : b.subi(zero, x), result);
  return b.select(byZero, whenZero, result);
}

Value emitShift(ScalarBuilder &b, Operation *op, Value x, Value amount) {
  Type type = x.getType();
  unsigned width = b.widthOf(type);
  Value last = b.i(width - 1, type);
  Value tooFar = b.cmpi(CmpIPredicate::ugt, amount, last);
  if (isa<stablehlo::ShiftRightArithmeticOp>(op))
    return b.shrsi(x, b.select(tooFar, last, amount));
  Value safe = b.select(tooFar, last, amount);
  Value shifted = isa<stablehlo::ShiftLeftOp>(op) ? b.shli(x, safe) : b.shrui(x, safe);
  return b.select(tooFar, b.i(0, type), shifted);
}

/// Computes base^exponent by squaring; the loop runs once for each significant bit of the exponent.
Value emitPower(ScalarBuilder &b, Value base, Value exponent, bool isUnsigned) {
  Type type = base.getType();
  Value zero = b.i(0, type), one = b.i(1, type);
  auto loop = scf::WhileOp::create(
      b.builder, b.loc, TypeRange{type, type, type}, ValueRange{exponent, base, one},
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder inner(builder, loc);
        scf::ConditionOp::create(builder, loc, inner.cmpi(CmpIPredicate::ne, args[0], zero), args);
      },
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder inner(builder, loc);
        Value isOdd = inner.cmpi(CmpIPredicate::ne, inner.andi(args[0], one), zero);
        Value product = inner.select(isOdd, inner.muli(args[2], args[1]), args[2]);
        scf::YieldOp::create(builder, loc,
                             ValueRange{inner.shrui(args[0], one), inner.muli(args[1], args[1]), product});
      });
  Value power = loop.getResult(2);
  if (isUnsigned)
    return power;
  // For a negative exponent the result is 1 / base^n rounded toward zero.
  Value isNegative = b.cmpi(CmpIPredicate::slt, exponent, zero);
  Value isOdd = b.cmpi(CmpIPredicate::ne, b.andi(exponent, one), zero);
  Value minusOne = b.i(-1, type);
  Value ofMinusOne = b.select(isOdd, minusOne, one);
  Value reciprocal = b.select(b.cmpi(CmpIPredicate::eq, base, one), one,
                              b.select(b.cmpi(CmpIPredicate::eq, base, minusOne), ofMinusOne, zero));
  return b.select(isNegative, reciprocal, power);
}

Value emitSign(ScalarBuilder &b, Value x, bool isUnsigned) {
  Type type = x.getType();
  Value zero = b.i(0, type);
  Value nonZero = b.extui(b.cmpi(CmpIPredicate::ne, x, zero), type);
  if (isUnsigned)
    return nonZero;
  return b.select(b.cmpi(CmpIPredicate::slt, x, zero), b.i(-1, type), nonZero);
}

} // namespace

Value emitIntegerScalar(ScalarBuilder &b, const ScalarOp &op) {
  using namespace stablehlo;
  ValueRange v = op.operands;
  bool isUnsigned = op.isUnsigned(), isBool = op.isBool();
  return TypeSwitch<Operation *, Value>(op.op)
      // On booleans addition is "or" and multiplication is "and".
      .Case<AddOp>([&](auto) { return isBool ? b.ori(v[0], v[1]) : b.addi(v[0], v[1]); })
      .Case<MulOp>([&](auto) { return isBool ? b.andi(v[0], v[1]) : b.muli(v[0], v[1]); })
      .Case<SubtractOp>([&](auto) { return b.subi(v[0], v[1]); })
      .Case<DivOp>([&](auto) { return emitDivRem(b, v[0], v[1], isUnsigned, /*isRem=*/false); })
      .Case<RemOp>([&](auto) { return emitDivRem(b, v[0], v[1], isUnsigned, /*isRem=*/true); })
      .Case<PowOp>([&](auto) { return emitPower(b, v[0], v[1], isUnsigned); })
      .Case<NegOp>([&](auto) { return b.subi(b.i(0, v[0].getType()), v[0]); })
      .Case<AbsOp>([&](auto) {
        if (isUnsigned)
          return v[0];
        Value zero = b.i(0, v[0].getType());
        return b.select(b.cmpi(CmpIPredicate::slt, v[0], zero), b.subi(zero, v[0]), v[0]);
      })
      .Case<SignOp>([&](auto) { return emitSign(b, v[0], isUnsigned); })
      .Case<AndOp>([&](auto) { return b.andi(v[0], v[1]); })
      .Case<OrOp>([&](auto) { return b.ori(v[0], v[1]); })
      .Case<XorOp>([&](auto) { return b.xori(v[0], v[1]); })
      .Case<NotOp>([&](auto) { return b.not1(v[0]); })
      .Case<ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(
          [&](Operation *shift) { return emitShift(b, shift, v[0], v[1]); })
      .Case<PopulationCountOp>([&](auto) { return Value(math::CtPopOp::create(b.builder, b.loc, v[0])); })
      .Case<ClzOp>([&](auto) { return Value(math::CountLeadingZerosOp::create(b.builder, b.loc, v[0])); })
      .Default([](Operation *) { return Value(); });
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Power.cpp - pow, cbrt and rsqrt ------------------------------------===//
// pow: 2^(y log2 |x|) in f64, whose logarithm is exact enough for |y log2 x| < 160, or, with registers for tables, e^(y log |x|) in pairs of
// f32; then, where any lane has one, the cases of IEEE 754. Both logarithms as sums of a table and of a short polynomial: P.T.P. Tang,
// "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16(4), 1990.
// cbrt: an exponent divided by three and two steps of Halley's method in f64.
#include "lowering/cpu/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using CmpF = arith::CmpFPredicate;
using CmpI = arith::CmpIPredicate;

namespace millrace::lowering {

/// 2^(y log), rounded to f32.
static Value powerOf(MathBuilder &b, Value y, Value log) {
  Value exponent = b.clamp(b.mulf(b.extf(y, log.getType()), log), -200.0, 200.0);
  return b.truncf(exp2Lite(b, exponent), y.getType());
}

/// x^y of any numbers, `result` being |x|^y where that has a logarithm.
static Value powerEdges(MathBuilder &b, Value x, Value y, Value result) {
  Type f32 = x.getType();
  Value ax = b.absf(x);
  Value isInteger = b.cmpf(CmpF::OEQ, b.floor(y), y);
  Value half = b.mulf(y, 0.5);
  Value isOdd = b.andi(isInteger, b.cmpf(CmpF::ONE, b.floor(half), half));
  Value isNegative = b.cmpi(CmpI::slt, b.bits(x), 0);
  result = b.select(b.andi(isOdd, isNegative), b.negf(result), result);
  // A negative number but -inf and -0 to a power that is no integer.
  Value isNan = b.andi(b.cmpf(CmpF::OLT, x, 0.0), b.cmpf(CmpF::OGT, x, b.inf(f32, /*negative=*/true)));
  isNan = b.andi(isNan, b.cmpf(CmpF::ONE, b.floor(y), y));
  result = b.select(isNan, b.nan(f32), result);
  // Where the result is 1 whatever the other operand is: 1^y, x^0, and (-1)^inf.
  Value isOne = b.ori(b.cmpf(CmpF::OEQ, x, 1.0), b.cmpf(CmpF::OEQ, y, 0.0));
  Value unitToInf = b.andi(b.cmpf(CmpF::OEQ, ax, 1.0), b.cmpf(CmpF::OEQ, b.absf(y), b.inf(f32)));
  return b.select(b.ori(isOne, unitToInf), b.f(1.0, f32), result);
}

/// `usual` where every lane `isUsual`, else `any`. Nearly all powers are usual, and edges are a third of the time.
static Value usualOrAny(MathBuilder &b, Value isUsual, Type type, function_ref<Value()> usual, function_ref<Value()> any) {
  Value all = isUsual;
  if (isa<VectorType>(type))
    all = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::AND, isUsual);
  auto branch = scf::IfOp::create(b.builder, b.loc, type, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, usual());
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, any());
  return branch.getResult(0);
}

namespace {

/// What f32 rounds to `high`, and what that leaves.
struct TwoFloats {
  Value high, low;
};

/// The tables of logTwoFloats and expTwoFloats. Every lane looks its numbers up in registers.
struct PowerTables {
  /// Of significands in [1 + i/32, 1 + (i+1)/32): c, about the reciprocal, and -log c, of which `high` has 16 bits behind the point.
  float reciprocal[32], logHigh[32], logLow[32];
  /// 2^(i/16).
  float powerHigh[16], powerLow[16];

  PowerTables() {
    for (int i = 0; i < 32; ++i) {
      // So short that m c - 1 is exact; 1 around 1, where the logarithm is nothing else, and 1/2 below 2.
      reciprocal[i] = (i == 0 ? 64.0f : i == 31 ? 32.0f : float(std::round(4096.0 / (65 + 2 * i)))) / 64;
      double log = -std::log(double(reciprocal[i]));
      logHigh[i] = std::round(log * 0x1p16) * 0x1p-16;
      logLow[i] = log - logHigh[i];
    }
    for (int i = 0; i < 16; ++i) {
      double power = std::exp2(i / 16.0);
      powerHigh[i] = power;
      powerLow[i] = power - powerHigh[i];
    }
  }
};

} // namespace

static const PowerTables &powerTables() {
  static const PowerTables tables;
  return tables;
}

/// log |x| to 2^-34 of itself, |low| < 2^-13; infinite and NaN for zero and infinity.
static TwoFloats logTwoFloats(MathBuilder &b, Value x) {
  const PowerTables &tables = powerTables();
  auto [m, e] = b.splitAbove1(x, /*ofMagnitude=*/true);
  Value index = b.shrui(b.bits(m), 18);
  // x = 2^e (1 + r) / c, |r| <= 1/32. The products with e, and their sums, are exact.
  Value r = b.fma(m, b.lookUp(tables.reciprocal, index), b.f(-1.0, x.getType()));
  Value whole = b.fma(e, 0x1.62e4p-1, b.lookUp(tables.logHigh, index));
  Value wholeLow = b.fma(e, 0x1.7f7d1cp-20, b.lookUp(tables.logLow, index));
  // r - r^2/2 in two parts, the second with the rest of log(1 + r).
  Value minusHalf = b.mulf(r, -0.5), first = b.fma(r, minusHalf, r);
  Value rest = b.fma(r, minusHalf, b.subf(r, first));
  Value q = b.poly(r, {-6.66666627e-01, 5.00003099e-01, -4.00144607e-01, 3.25644076e-01}); // over -r^3/2
  rest = b.fma(b.mulf(b.mulf(r, minusHalf), r), q, rest);
  // `whole` is 0 or larger than `first`.
  Value high = b.addf(whole, first), lost = b.addf(b.subf(whole, high), first);
  return {high, b.addf(lost, b.addf(rest, wholeLow))};
}

/// e^x = power 2^floor(number), |x| <= 128.
static std::pair<Value, Value> expTwoFloats(MathBuilder &b, TwoFloats x, Value sum) {
  const PowerTables &tables = powerTables();
  Type f32 = sum.getType();
  // Fact: adding it rounds to sixteenths.
  constexpr double kMagic = 0x1.8p19;
  Value rounded = b.fma(sum, 0x1.715476p0, b.f(kMagic, f32)), number = b.subf(rounded, kMagic);
  Value r = b.addf(b.fma(number, -0x1.62e43p-1, x.high), b.fma(number, 0x1.05c61p-29, x.low));
  Value p = b.fma(b.mulf(r, r), b.poly(r, {5.00016212e-01, 1.66670248e-01}), r); // e^r - 1
  Value high = b.lookUp(tables.powerHigh, b.bits(rounded)), low = b.lookUp(tables.powerLow, b.bits(rounded));
  return {b.addf(high, b.fma(high, p, low)), number};
}

/// e^(y log |x|) where canScale(): twice as many numbers in a vector as f64 has, 0.58 ULP.
static Value powScaled(MathBuilder &b, Value x, Value y) {
  Type f32 = x.getType();
  TwoFloats log = logTwoFloats(b, x);
  Value high = b.mulf(y, log.high), low = b.fma(y, log.low, b.fma(y, log.high, b.negf(high))), sum = b.addf(high, low);
  // Positive numbers whose powers are normal. Magnitudes are in the order of their bits, negative and NaN x, y, sums above all others.
  Value magnitude = b.andi(b.bits(sum), 0x7fffffff), sign = b.andi(b.bits(x), -0x80000000ll);
  Value isUsual = b.cmpi(CmpI::ule, b.ori(magnitude, sign), llvm::bit_cast<int32_t>(87.0f));
  auto usual = [&] {
    auto [power, number] = expTwoFloats(b, {high, low}, sum);
    return b.scale(power, number, b.i(1, b.intLike(f32, 1)));
  };
  auto any = [&] {
    // The low part of logarithms and products that are infinite or too large is not a number.
    Value limited = b.clamp(high, -120.0, 120.0);
    Value rest = b.select(b.cmpf(CmpF::OEQ, limited, high), low, b.f(0.0, f32)), exponent = b.addf(limited, rest);
    auto [power, number] = expTwoFloats(b, {limited, rest}, exponent);
    return powerEdges(b, x, y, scaleExp(b, exponent, power, number));
  };
  return usualOrAny(b, isUsual, f32, usual, any);
}

Value powF32(MathBuilder &b, Value x, Value y) {
  Type f32 = x.getType();
  if (b.canScale(f32))
    return powScaled(b, x, y);
  Value log = log2Lite(b, b.extf(b.absf(x), b.f64Like(f32)));
  // Positive numbers to finite powers have no edges: 2^(y 0) and 2^(0 log) are 1.
  Value isUsual = b.andi(b.cmpf(CmpF::OGT, x, 0.0), b.cmpf(CmpF::OLT, x, b.inf(f32)));
  isUsual = b.andi(isUsual, b.cmpf(CmpF::OLT, b.absf(y), b.inf(f32)));
  auto any = [&] {
    Type f64 = log.getType();
    Value ax = b.absf(x), whole = b.select(b.cmpf(CmpF::OEQ, ax, 0.0), b.inf(f64, /*negative=*/true), log);
    whole = b.select(b.cmpf(CmpF::OLT, ax, b.inf(f32)), whole, b.extf(ax, f64)); // inf, NaN
    return powerEdges(b, x, y, powerOf(b, y, whole));
  };
  return usualOrAny(b, isUsual, f32, [&] { return powerOf(b, y, log); }, any);
}

/// The cube root of a positive normal f64 below 2^1000, nearly exact: an exponent divided by three, then Halley's method.
static Value cbrtHalley(MathBuilder &b, Value x) {
  Type f64 = x.getType();
  Value top = b.trunci(b.shrui(b.bits(x), 32), b.intLike(f64, 32));
  Value third = arith::DivUIOp::create(b.builder, b.loc, top, b.i(3, top.getType()));
  Value guess = b.extui(b.addi(third, 715094163), b.intLike(f64, 64));
  Value t = b.bitcast(b.shli(guess, 32), f64);
  for (int step = 0; step < 2; ++step) {
    Value cube = b.mulf(b.mulf(t, t), t);
    Value numerator = b.addf(cube, b.addf(x, x)), denominator = b.addf(b.addf(cube, cube), x);
    t = b.mulf(t, b.divf(numerator, denominator));
  }
  return t;
}

/// Zeros, infinities and NaN are their own roots.
static Value cbrtEdges(MathBuilder &b, Value x, Value root) {
  Value isUsual = b.andi(b.cmpf(CmpF::OGT, b.absf(x), 0.0), b.cmpf(CmpF::OLT, b.absf(x), b.inf(x.getType())));
  return b.select(isUsual, b.copysign(root, x), x);
}

Value cbrtF32(MathBuilder &b, Value x) {
  Value wide = b.extf(b.absf(x), b.f64Like(x.getType()));
  return cbrtEdges(b, x, b.truncf(cbrtHalley(b, wide), x.getType()));
}

Value cbrtF64(MathBuilder &b, Value x) {
  Type type = x.getType();
  // Into the middle of the range by a power of eight.
  Value a = b.absf(x), one = b.f(1.0, type);
  Value isSmall = b.cmpf(CmpF::OLT, a, 0x1p-900), isLarge = b.cmpf(CmpF::OGT, a, 0x1p900);
  Value up = b.select(isSmall, b.f(0x1p180, type), b.select(isLarge, b.f(0x1p-180, type), one));
  Value down = b.select(isSmall, b.f(0x1p-60, type), b.select(isLarge, b.f(0x1p60, type), one));
  Value scaled = b.mulf(a, up);
  Value t = cbrtHalley(b, scaled);
  // The square of a root of 23 bits is exact, and so the error that it leaves is known well.
  Value bits = b.andi(b.addi(b.bits(t), 0x20000000), -0x40000000);
  t = b.bitcast(bits, type);
  Value ratio = b.divf(scaled, b.mulf(t, t));
  Value error = b.divf(b.subf(ratio, t), b.addf(b.addf(t, t), ratio));
  return cbrtEdges(b, x, b.mulf(b.fma(t, error, t), down));
}

Value rsqrt(MathBuilder &b, Value x) {
  Value one = b.f(1.0, x.getType());
  if (!b.canGuess(x.getType()))
    return b.divf(one, b.sqrt(x));
  // A step of Newton; the guess itself where x is zero, infinite or below zero.
  Value guess = b.roughly("rsqrt14", x);
  Value error = b.fma(b.negf(b.mulf(x, guess)), guess, one);
  return b.select(b.isNan(error), guess, b.fma(b.mulf(guess, 0.5), error, guess));
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Power.cpp - pow, cbrt and rsqrt ------------------------------------===//
// pow: 2^(y log2 |x|) in f64, whose logarithm is exact enough for |y log2 x| < 160; then, where any lane has one, the cases of IEEE 754.
// cbrt: an exponent divided by three and two steps of Halley's method in f64.
#include "lowering/cpu/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;
using CmpI = arith::CmpIPredicate;

namespace millrace::lowering {

/// 2^(y log), rounded to f32.
static Value powerOf(MathBuilder &b, Value y, Value log) {
  Value exponent = b.clamp(b.mulf(b.extf(y, log.getType()), log), -200.0, 200.0);
  return b.truncf(exp2Lite(b, exponent), y.getType());
}

/// Any number to any power; `log`: log2 |x| where x is neither zero nor infinite nor a NaN.
static Value powerWithEdges(MathBuilder &b, Value x, Value y, Value log) {
  Type f32 = x.getType(), f64 = log.getType();
  Value ax = b.absf(x);
  log = b.select(b.cmpf(CmpF::OEQ, ax, 0.0), b.inf(f64, /*negative=*/true), log);
  log = b.select(b.cmpf(CmpF::OLT, ax, b.inf(f32)), log, b.extf(ax, f64)); // inf, NaN
  Value result = powerOf(b, y, log);

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

Value powF32(MathBuilder &b, Value x, Value y) {
  Type f32 = x.getType();
  Value log = log2Lite(b, b.extf(b.absf(x), b.f64Like(f32)));
  // Positive numbers to finite powers have no edges: 2^(y 0) and 2^(0 log) are 1. Nearly all powers are such, and edges are a third of the time.
  Value isUsual = b.andi(b.cmpf(CmpF::OGT, x, 0.0), b.cmpf(CmpF::OLT, x, b.inf(f32)));
  isUsual = b.andi(isUsual, b.cmpf(CmpF::OLT, b.absf(y), b.inf(f32)));
  Value all = isUsual;
  if (isa<VectorType>(f32))
    all = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::AND, isUsual);
  auto branch = scf::IfOp::create(b.builder, b.loc, f32, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, powerOf(b, y, log));
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, powerWithEdges(b, x, y, log));
  return branch.getResult(0);
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

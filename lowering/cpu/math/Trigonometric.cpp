// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trigonometric.cpp - sin, cos, tan and the inverse functions --------===//
// The argument is reduced in f64: with two fused steps (Cody and Waite) up to 2^23; beyond that with the bits of 2/pi that
// matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983). An f32 has 24 bits, so that all partial
// products are exact. The rare second path is a branch taken if any lane needs it.
#include "lowering/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;
using CmpI = arith::CmpIPredicate;

namespace millrace::lowering {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;
constexpr double kPi = 3.14159265358979323846;

/// x = quadrant pi/2 + angle with |angle| <= pi/4 (a little more at the borders); f64 and i64.
struct Reduced {
  Value angle, quadrant;
};

Reduced reduceSmall(MathBuilder &b, Value wide) {
  auto [number, n] = b.roundProduct(wide, 0.63661977236758134308);
  Value r = b.fma(number, -kHalfPi, wide);
  return {b.fma(number, -6.123233995736766e-17, r), n};
}

/// 2/pi 2^(24 k) modulo 4 in three parts of at most 29 bits.
constexpr double kTwoOverPi[5][3] = {
    {0x1.45f306c000000p-1, 0x1.c9c882a000000p-29, 0x1.4fe13abe8fa9ap-59},
    {0x1.b727220000000p+1, 0x1.529fc27000000p-28, 0x1.5f47d4d377037p-58},
    {0x1.529fc20000000p-4, 0x1.d5f47d4000000p-30, 0x1.a6ee06db14acdp-59},
    {0x1.3abe8f0000000p-3, 0x1.534ddc0000000p-28, 0x1.b6c52b3278872p-57},
    {0x1.f534ddc000000p+0, 0x1.b6c52a0000000p-33, 0x1.3278872083fcap-57},
};

Reduced reduceLarge(MathBuilder &b, Value wide) {
  Type f64 = wide.getType();
  Value magnitude = b.absf(wide);
  // wide = scaled 2^(24 k) with scaled in [2^23, 2^47): an integer, so that multiples of 4 in 2/pi 2^(24 k) do not count.
  Value parts[3], unscale = b.f(1.0, f64);
  for (int part = 0; part < 3; ++part)
    parts[part] = b.f(kTwoOverPi[0][part], f64);
  for (int k = 1; k < 5; ++k) {
    Value reaches = b.cmpf(CmpF::OGE, magnitude, std::ldexp(1.0, 23 + 24 * k));
    for (int part = 0; part < 3; ++part)
      parts[part] = b.select(reaches, b.f(kTwoOverPi[k][part], f64), parts[part]);
    unscale = b.select(reaches, b.f(std::ldexp(1.0, -24 * k), f64), unscale);
  }
  Value scaled = b.mulf(wide, unscale);
  auto modulo4 = [&](Value value) { return b.fma(b.floor(b.mulf(value, 0.25)), -4.0, value); };
  Value high = modulo4(b.mulf(scaled, parts[0]));
  Value middle = modulo4(b.mulf(scaled, parts[1]));
  Value low = b.mulf(scaled, parts[2]);
  auto [number, n] = b.round(b.addf(b.addf(high, middle), low));
  Value fraction = b.addf(b.addf(b.subf(high, number), middle), low);
  return {b.mulf(fraction, kHalfPi), n};
}

Reduced reduce(MathBuilder &b, Value x) {
  Type f64 = b.f64Like(x.getType()), i64 = b.intLike(x.getType(), 64);
  Value wide = b.extf(x, f64);
  Value isLarge = b.cmpf(CmpF::OGE, b.absf(x), 0x1p23);
  Value any = isLarge;
  if (isa<VectorType>(x.getType()))
    any = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::OR, isLarge);
  Reduced small = reduceSmall(b, wide);
  auto branch = scf::IfOp::create(b.builder, b.loc, TypeRange{f64, i64}, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  Reduced large = reduceLarge(b, wide);
  Value angle = b.select(isLarge, large.angle, small.angle);
  Value quadrant = b.select(isLarge, large.quadrant, small.quadrant);
  scf::YieldOp::create(b.builder, b.loc, ValueRange{angle, quadrant});
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, ValueRange{small.angle, small.quadrant});
  return {branch.getResult(0), branch.getResult(1)};
}

/// Sine and cosine of the angle, of which a quadrant takes one, with its sign.
struct Waves {
  Value sine, cosine, quadrant;

  Waves(MathBuilder &b, Reduced reduced, Type f32) {
    Value r = b.truncf(reduced.angle, f32);
    quadrant = b.trunci(reduced.quadrant, b.intLike(f32, 32));
    Value z = b.mulf(r, r);
    sine = b.fma(b.mulf(r, z), b.poly(z, {-1.666666716e-01, 8.333329111e-03, -1.983929687e-04, 2.717940106e-06}), r);
    cosine = b.poly(z, {4.166664556e-02, -1.388733741e-03, 2.443488120e-05});
    cosine = b.fma(b.mulf(z, z), cosine, b.fma(z, -0.5, b.f(1.0, f32)));
  }

  /// The sine `quadrants` further on.
  Value at(MathBuilder &b, int quadrants) const {
    Value q = quadrants ? b.addi(quadrant, quadrants) : quadrant;
    Value value = b.select(b.cmpi(CmpI::ne, b.andi(q, 1), 0), cosine, sine);
    return b.bitcast(b.xori(b.bits(value), b.shli(b.andi(q, 2), 30)), value.getType());
  }
};

} // namespace

Value sinF32(MathBuilder &b, Value x, bool cosine) {
  Waves waves(b, reduce(b, x), x.getType());
  return cosine ? waves.at(b, 1) : b.keepZero(x, waves.at(b, 0));
}

std::pair<Value, Value> sinCosF32(MathBuilder &b, Value x) {
  Waves waves(b, reduce(b, x), x.getType());
  return {b.keepZero(x, waves.at(b, 0)), waves.at(b, 1)};
}

Value tanF32(MathBuilder &b, Value x) {
  Reduced reduced = reduce(b, x);
  Value r = reduced.angle, z = b.mulf(r, r);
  Value s = b.poly(z, {-1.66666666406276587e-01, 8.33332926761217244e-03, -1.98392962539772422e-04,
                       2.71794017258710467e-06});
  s = b.fma(b.mulf(r, z), s, r);
  Value c = b.poly(z, {4.16666666210526240e-02, -1.38888835982850511e-03, 2.47994786262119341e-05,
                       -2.72067880253289969e-07});
  c = b.fma(b.mulf(z, z), c, b.fma(z, -0.5, b.f(1.0, r.getType())));
  Value isOdd = b.cmpi(CmpI::ne, b.andi(reduced.quadrant, 1), 0);
  Value quotient = b.divf(b.select(isOdd, b.negf(c), s), b.select(isOdd, s, c));
  return b.keepZero(x, b.truncf(quotient, x.getType()));
}

Value atanLite(MathBuilder &b, Value t) {
  Value z = b.mulf(t, t);
  Value p = b.poly(z, {-3.33333322353999484e-01, 1.99999322010721486e-01, -1.42842509193346290e-01,
                       1.10952028315639481e-01, -8.98879360060781951e-02, 7.26938807303274676e-02,
                       -5.47045485814584426e-02, 3.47047225564186754e-02, -1.64714995754470517e-02,
                       4.99933285517821686e-03, -7.11307416859962129e-04});
  return b.fma(b.mulf(t, z), p, t);
}

/// The angle of (x, y), f64 operands that came from f32.
static Value atan2Wide(MathBuilder &b, Value y, Value x) {
  Type type = x.getType();
  Value ax = b.absf(x), ay = b.absf(y);
  Value isSteep = b.cmpf(CmpF::OGT, ay, ax);
  Value high = b.select(isSteep, ay, ax), low = b.select(isSteep, ax, ay);
  Value t = b.divf(low, high);
  t = b.select(b.cmpf(CmpF::OEQ, high, 0.0), b.f(0.0, type), t);
  t = b.select(b.cmpf(CmpF::OEQ, low, b.inf(type)), b.f(1.0, type), t);
  Value angle = atanLite(b, t);
  angle = b.select(isSteep, b.subf(b.f(kHalfPi, type), angle), angle);
  Value isLeft = b.cmpi(CmpI::slt, b.bits(x), 0);
  angle = b.select(isLeft, b.subf(b.f(kPi, type), angle), angle);
  angle = b.copysign(angle, y);
  return b.select(b.cmpf(CmpF::UNO, x, y), b.nan(type), angle);
}

Value atanF32(MathBuilder &b, Value x) {
  Value wide = b.extf(x, b.f64Like(x.getType()));
  return b.truncf(atan2Wide(b, wide, b.f(1.0, wide.getType())), x.getType());
}

Value atan2F32(MathBuilder &b, Value y, Value x) {
  Type f64 = b.f64Like(x.getType());
  return b.truncf(atan2Wide(b, b.extf(y, f64), b.extf(x, f64)), x.getType());
}

/// sqrt(1 - x^2), NaN outside of [-1, 1].
static Value cathetus(MathBuilder &b, Value wide) {
  Value one = b.f(1.0, wide.getType());
  return b.sqrt(b.mulf(b.subf(one, wide), b.addf(one, wide)));
}

Value asinF32(MathBuilder &b, Value x) {
  Value wide = b.extf(x, b.f64Like(x.getType()));
  return b.truncf(atan2Wide(b, wide, cathetus(b, wide)), x.getType());
}

Value acosF32(MathBuilder &b, Value x) {
  Value wide = b.extf(x, b.f64Like(x.getType()));
  return b.truncf(atan2Wide(b, cathetus(b, wide), wide), x.getType());
}

} // namespace millrace::lowering

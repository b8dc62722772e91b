// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trigonometric.cpp - sin, cos, tan and the inverse functions --------===//
// The argument is reduced with fused products of pi/2 in three parts (Cody and Waite); beyond some 10^5 quadrants, f32 with the bits of 2/pi
// that matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983) in f64, where all partial products of the 24 bits of an
// f32 are exact; f64 by the C library. The rare second path is a branch taken if any lane needs it.
#include "lowering/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;
using CmpI = arith::CmpIPredicate;

namespace millrace::lowering {
namespace {

/// Fact: pi / 2.
constexpr double kHalfPi = 1.57079632679489661923;
/// Fact: pi.
constexpr double kPi = 3.14159265358979323846;

/// x = quadrant pi/2 + high + low, |high| <= pi/4 (a little more at the borders); only the lowest bits of the integer count. `low` is small beside
/// `high` wherever that is not tiny.
struct Reduced {
  Value high, low, quadrant;

  /// (high + low)^2, rounded about once.
  Value square(MathBuilder &b) const { return low ? b.fma(high, high, b.mulf(high, b.addf(low, low))) : b.mulf(high, high); }
};

/// pi/2 in three parts; arguments below `reach` have few enough quadrants n that x - n parts[0] is exact: a multiple of the last place of
/// parts[0], below one.
struct Parts {
  double parts[3], reach;
};
/// Fact: pi/2 in three parts for f32; arguments below `reach` have few enough quadrants n that x - n parts[0] is exact: a multiple of the last place
/// of parts[0], below one.
constexpr Parts kNarrow = {{0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50}, 0x1p17};
/// Fact: the same for f64.
constexpr Parts kWide = {{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}, 0x1p26};

const Parts &partsFor(MathBuilder &b, Value x) { return b.isF64(x) ? kWide : kNarrow; }

/// For |x| < reach or NaN, with `low` if wanted; without it the angle is right to its last place.
Reduced reduceNear(MathBuilder &b, Value x, bool wantLow) {
  auto [c1, c2, c3] = partsFor(b, x).parts;
  auto [number, quadrant] = b.roundProductBiased(x, 0.63661977236758134308, /*times=*/0);
  Value r = b.fma(number, -c1, x);
  if (!wantLow)
    return {b.fma(number, -c3, b.fma(number, -c2, r)), {}, quadrant};
  // r - n c2 with everything that is lost: of the product, and of the sum (Dekker's: r is a multiple of parts[0]'s last place, which is above
  // that of the product).
  Value product = b.mulf(number, -c2), lost = b.fma(number, -c2, b.negf(product));
  Value sum = b.addf(r, product);
  lost = b.addf(b.subf(product, b.subf(sum, r)), lost);
  return {sum, b.fma(number, -c3, lost), quadrant};
}

/// Fact: 2/pi 2^(24 k) modulo 4 in three parts of at most 29 bits.
constexpr double kTwoOverPi[5][3] = {
    {0x1.45f306c000000p-1, 0x1.c9c882a000000p-29, 0x1.4fe13abe8fa9ap-59},
    {0x1.b727220000000p+1, 0x1.529fc27000000p-28, 0x1.5f47d4d377037p-58},
    {0x1.529fc20000000p-4, 0x1.d5f47d4000000p-30, 0x1.a6ee06db14acdp-59},
    {0x1.3abe8f0000000p-3, 0x1.534ddc0000000p-28, 0x1.b6c52b3278872p-57},
    {0x1.f534ddc000000p+0, 0x1.b6c52a0000000p-33, 0x1.3278872083fcap-57},
};

/// The angle in f64 and its quadrant, of an f32.
std::pair<Value, Value> reduceLarge(MathBuilder &b, Value wide) {
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

Value anyLane(MathBuilder &b, Value lanes) {
  if (!isa<VectorType>(lanes.getType()))
    return lanes;
  return vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::OR, lanes);
}

/// Of an f32.
Reduced reduce(MathBuilder &b, Value x, bool wantLow) {
  Type f32 = x.getType(), f64 = b.f64Like(f32);
  Value isLarge = b.cmpf(CmpF::OGE, b.absf(x), kNarrow.reach);
  Reduced near = reduceNear(b, x, wantLow);
  SmallVector<Value> usual = {near.high, near.quadrant};
  if (wantLow)
    usual.push_back(near.low);
  auto branch = scf::IfOp::create(b.builder, b.loc, ValueRange(usual).getTypes(), anyLane(b, isLarge), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  auto [angle, quadrant] = reduceLarge(b, b.extf(x, f64));
  Value high = b.truncf(angle, f32);
  SmallVector<Value> large = {high, b.trunci(quadrant, b.bitsOf(f32))};
  if (wantLow)
    large.push_back(b.truncf(b.subf(angle, b.extf(high, f64)), f32));
  for (auto [value, other] : llvm::zip_equal(large, usual))
    value = b.select(isLarge, value, other);
  scf::YieldOp::create(b.builder, b.loc, large);
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, usual);
  return {branch.getResult(0), wantLow ? branch.getResult(2) : Value(), branch.getResult(1)};
}

/// `fast`, or what `far` computes if an argument is beyond the reach of reduceNear().
Value unlessFar(MathBuilder &b, Value x, Value fast, llvm::function_ref<Value()> far) {
  Value isFar = anyLane(b, b.cmpf(CmpF::OGE, b.absf(x), kWide.reach));
  auto branch = scf::IfOp::create(b.builder, b.loc, fast.getType(), isFar, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, far());
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, fast);
  return branch.getResult(0);
}

/// Sine and cosine of the angle, of which a quadrant takes one, with its sign.
struct Waves {
  Value sine, cosine, quadrant;

  Waves(MathBuilder &b, Reduced reduced) : quadrant(reduced.quadrant) {
    Value r = reduced.high, z = reduced.square(b);
    Type type = r.getType();
    if (b.isF64(r)) {
      Value odd = b.poly(z, {-0.1666666666666663, 0.008333333333322063, -0.00019841269829542612, 2.7557313604527764e-06,
                             -2.5050745038045423e-08, 1.5896067523650042e-10});
      sine = b.addf(r, b.fma(b.mulf(r, z), odd, reduced.low));
      // Each product adds what it was rounded by at the place of a smaller number.
      cosine = b.poly(z, {1.0, -0.5, 0.041666666666666595, -0.0013888888888872975, 2.4801587288800025e-05, -2.755731416397642e-07,
                          2.087569870858128e-09, -1.1358423521865225e-11});
      return;
    }
    sine = b.fma(b.mulf(r, z), b.poly(z, {-1.666666716e-01, 8.333329111e-03, -1.983929687e-04, 2.717940106e-06}), r);
    cosine = b.poly(z, {4.166664556e-02, -1.388733741e-03, 2.443488120e-05});
    cosine = b.fma(b.mulf(z, z), cosine, b.fma(z, -0.5, b.f(1.0, type)));
  }

  /// The sine `quadrants` further on.
  Value at(MathBuilder &b, int quadrants) const {
    Value q = quadrants ? b.addi(quadrant, quadrants) : quadrant;
    Value value = b.select(b.cmpi(CmpI::ne, b.andi(q, 1), 0), cosine, sine);
    return b.bitcast(b.xori(b.bits(value), b.shli(b.andi(q, 2), b.isF64(value) ? 62 : 30)), value.getType());
  }
};

} // namespace

Value sinF32(MathBuilder &b, Value x, bool cosine) {
  Waves waves(b, reduce(b, x, /*wantLow=*/false));
  return cosine ? waves.at(b, 1) : b.keepZero(x, waves.at(b, 0));
}

std::pair<Value, Value> sinCosF32(MathBuilder &b, Value x) {
  Waves waves(b, reduce(b, x, /*wantLow=*/false));
  return {b.keepZero(x, waves.at(b, 0)), waves.at(b, 1)};
}

Value sinF64(MathBuilder &b, Value x, bool cosine, llvm::function_ref<Value()> far) {
  Waves waves(b, reduceNear(b, x, /*wantLow=*/true));
  return unlessFar(b, x, cosine ? waves.at(b, 1) : b.keepZero(x, waves.at(b, 0)), far);
}

Value tanF32(MathBuilder &b, Value x) {
  Reduced reduced = reduce(b, x, /*wantLow=*/true);
  Value r = reduced.high, z = b.mulf(r, r);
  Value p = b.poly(z, {0.33333349227905273, 0.1333266645669937, 0.05406050756573677, 0.021275939419865608, 0.010858024470508099,
                       5.545491512748413e-05, 0.004395467694848776});
  // r^3 with what z was rounded by, times p, and the derivative times what the angle was.
  Value cube = b.fma(r, z, b.mulf(r, b.fma(r, r, b.negf(z))));
  Value near = b.fma(cube, p, r);
  Value rest = b.fma(cube, p, b.fma(b.mulf(near, near), reduced.low, reduced.low));
  Value high = b.addf(r, rest), low = b.addf(b.subf(r, high), rest);
  // -1 / (high + low); where it is used, high is far from zero.
  Value one = b.f(1.0, x.getType()), inverse;
  if (b.canGuess(x.getType())) {
    Value guess = b.roughly("rcp14", high), negative = b.negf(guess);
    Value error = b.fma(negative, low, b.fma(negative, high, one));
    inverse = b.fma(negative, b.fma(error, error, error), negative);
  } else {
    inverse = b.divf(b.f(-1.0, x.getType()), high);
    inverse = b.fma(inverse, b.fma(low, inverse, b.fma(high, inverse, one)), inverse);
  }
  Value isOdd = b.cmpi(CmpI::ne, b.andi(reduced.quadrant, 1), 0);
  return b.keepZero(x, b.select(isOdd, inverse, high));
}

Value atanLite(MathBuilder &b, Value t) {
  Value z = b.mulf(t, t);
  Value p = b.poly(z, {-3.33333322353999484e-01, 1.99999322010721486e-01, -1.42842509193346290e-01,
                       1.10952028315639481e-01, -8.98879360060781951e-02, 7.26938807303274676e-02,
                       -5.47045485814584426e-02, 3.47047225564186754e-02, -1.64714995754470517e-02,
                       4.99933285517821686e-03, -7.11307416859962129e-04});
  return b.fma(b.mulf(t, z), p, t);
}

/// atan(x) = center + atan(t): t = x up to 1/2, (x - 1) / (x + 1) up to 2, -1 / x beyond.
static Value atanCentered(MathBuilder &b, Value x, ArrayRef<double> coefficients) {
  Type type = x.getType();
  bool wide = b.isF64(x);
  double huge = wide ? 0x1p600 : 0x1p64, high = wide ? kWide.parts[0] : kNarrow.parts[0], low = wide ? kWide.parts[1] : kNarrow.parts[1];
  Value a = b.absf(x), zero = b.f(0.0, type), one = b.f(1.0, type);
  Value isMiddle = b.cmpf(CmpF::OGT, a, 0.5), isBig = b.cmpf(CmpF::OGT, a, 2.0);
  auto choose = [&](Value small, Value middle, Value big) { return b.select(isBig, big, b.select(isMiddle, middle, small)); };
  Value sum = b.addf(a, one);
  Value numerator = choose(a, b.subf(a, one), b.f(-1.0, type));
  Value denominator = choose(one, sum, b.select(b.cmpf(CmpF::OGT, a, huge), b.f(huge, type), a));
  Value center = choose(zero, b.f(high / 2, type), b.f(high, type)), centerLow = choose(zero, b.f(low / 2, type), b.f(low, type));
  Value sumLow = choose(zero, b.subf(a, b.subf(sum, one)), zero);
  // The quotient and what it is rounded by.
  Value inverse = b.divf(one, denominator), t = b.mulf(numerator, inverse), negative = b.negf(t);
  Value tLow = b.mulf(b.fma(negative, sumLow, b.fma(negative, denominator, numerator)), inverse);
  Value z = b.mulf(t, t);
  Value upper = b.addf(center, t), lower = b.addf(b.subf(t, b.subf(upper, center)), centerLow);
  lower = b.addf(lower, b.fma(b.negf(tLow), z, tLow));
  Value angle = b.addf(upper, b.fma(b.mulf(t, z), b.poly(z, coefficients), lower));
  return b.copysign(angle, x);
}

Value atanF32(MathBuilder &b, Value x) {
  return atanCentered(b, x, {-0.3333323413106143, 0.19994218723093243, -0.14174900596257875, 0.10159424902991639, -0.05131519817964749});
}

Value atanF64(MathBuilder &b, Value x) {
  return atanCentered(b, x, {-0.3333333333333298, 0.19999999999902782, -0.14285714276357311, 0.11111110658395378, -0.09090896213576598,
                             0.07692073423081118, -0.06663805603286845, 0.058582649032266815, -0.05121854252718585, 0.04186078151874213,
                             -0.027428091704920828, 0.010112035513674901});
}

/// The angle of (x, y), f64 operands that came from f32; `arc` is the arc tangent of [0, 1].
static Value atan2By(MathBuilder &b, Value y, Value x, function_ref<Value(Value)> arc) {
  Type type = x.getType();
  Value ax = b.absf(x), ay = b.absf(y);
  Value isSteep = b.cmpf(CmpF::OGT, ay, ax);
  Value high = b.select(isSteep, ay, ax), low = b.select(isSteep, ax, ay);
  Value t = b.divf(low, high);
  t = b.select(b.cmpf(CmpF::OEQ, high, 0.0), b.f(0.0, type), t);
  t = b.select(b.cmpf(CmpF::OEQ, low, b.inf(type)), b.f(1.0, type), t);
  Value angle = arc(t);
  angle = b.select(isSteep, b.subf(b.f(kHalfPi, type), angle), angle);
  Value isLeft = b.cmpi(CmpI::slt, b.bits(x), 0);
  angle = b.select(isLeft, b.subf(b.f(kPi, type), angle), angle);
  angle = b.copysign(angle, y);
  return b.select(b.cmpf(CmpF::UNO, x, y), b.nan(type), angle);
}

static Value atan2Wide(MathBuilder &b, Value y, Value x) {
  return atan2By(b, y, x, [&](Value t) { return atanLite(b, t); });
}

Value angleOf(MathBuilder &b, Value y, Value x) {
  return atan2By(b, y, x, [&](Value t) { return atanF64(b, t); });
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

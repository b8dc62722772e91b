// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpLog.cpp - Exponentials and logarithms ---------------------------===//
// exp: x = n ln2 + r with |r| <= ln2/2 (Cody and Waite, "Software Manual for the Elementary Functions", 1980), a minimax
// polynomial for (e^r - 1 - r) / r^2, and 2^n by exponent arithmetic. log: x = m 2^e with m in [sqrt(1/2), sqrt(2)), a
// minimax polynomial for the rest of log(1 + f) behind f - f^2/2. Coefficients: Remez exchange on these intervals.
#include "lowering/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;

namespace millrace::lowering {

/// Fact: 1 / ln 2.
static constexpr double kLog2e = 1.4426950408889634074;

/// (e^r - 1 - r) / r^2, times r^2, plus 1 + r.
static Value expPolynomial(MathBuilder &b, Value r) {
  Value q = b.poly(r, {4.999999404e-01, 1.666651517e-01, 4.166845605e-02, 8.369418792e-03, 1.381314127e-03});
  Value one = b.f(1.0, r.getType());
  return b.fma(b.fma(q, r, one), r, one);
}

/// x = n ln2 + r: e^r.
static Value expPolynomialF64(MathBuilder &b, Value x, Value number) {
  Value r = b.fma(number, -0x1.62e42fefa39efp-1, x);
  r = b.fma(number, -0x1.abc9e3b39803fp-56, r);
  Value q = b.poly(r, {5.00000000000001221e-01, 1.66666666666663854e-01, 4.16666666665191504e-02, 8.33333333350765731e-03,
                       1.38888889469198631e-03, 1.98412694861707992e-04, 2.48014893523380822e-05, 2.75575971783462077e-06,
                       2.76316873294273342e-07, 2.49989953280675099e-08});
  return b.addf(b.fma(q, b.mulf(r, r), r), 1.0);
}

namespace {

/// e^x = power 2^number where canScale(), `usual` if that is no smaller than a normal number, else 0.
struct Exponential {
  Value x, power, number, isNormal, usual;
};

} // namespace

static Exponential exponentialF32(MathBuilder &b, Value x) {
  Value limited = b.select(b.cmpf(CmpF::OGT, x, 176.0), b.f(176.0, x.getType()), x);
  Value number = b.round(limited, kLog2e);
  Value r = b.fma(number, -0x1.62e43p-1, limited);
  Value power = expPolynomial(b, b.fma(number, 0x1.05c61p-29, r)), isNormal = b.cmpf(CmpF::UGE, x, -87.3);
  return {x, power, number, isNormal, b.scale(power, number, isNormal)};
}

static Exponential exponentialF64(MathBuilder &b, Value x) {
  Value limited = b.select(b.cmpf(CmpF::OGT, x, 1024.0), b.f(1024.0, x.getType()), x);
  Value number = b.round(limited, kLog2e);
  Value power = expPolynomialF64(b, limited, number), isNormal = b.cmpf(CmpF::UGE, x, -708.3);
  return {x, power, number, isNormal, b.scale(power, number, isNormal)};
}

/// Rounded as an integer in units of the least number: it is the bits of the result.
static Value withSubnormals(MathBuilder &b, const Exponential &e, Value isSmall) {
  Type type = e.x.getType();
  bool wide = b.isF64(e.x);
  int units = wide ? 1074 : 149, mantissa = wide ? 52 : 23;
  double one = std::ldexp(1.0, mantissa);
  Value scaled = b.scale(e.power, b.addf(e.number, double(units)), isSmall);
  Value rounded = b.subi(b.bits(b.addf(scaled, one)), b.bits(b.f(one, type)));
  // Normal after all: the exponent alone changes.
  Value lowered = b.subi(b.bits(scaled), int64_t(units) << mantissa);
  Value small = b.bitcast(b.select(b.cmpf(CmpF::OLT, scaled, one), rounded, lowered), type);
  return b.select(isSmall, small, e.usual);
}

/// What of numbers below the normal ones is no zero.
static Value isSubnormal(MathBuilder &b, const Exponential &e) {
  return b.andi(b.cmpf(CmpF::OGT, e.x, b.isF64(e.x) ? -746.0 : -104.0), b.not1(e.isNormal));
}

Value scaleExp(MathBuilder &b, Value x, Value power, Value number) {
  Value isNormal = b.cmpf(CmpF::UGE, x, -87.3);
  Exponential e = {x, power, number, isNormal, b.scale(power, number, isNormal)};
  return withSubnormals(b, e, isSubnormal(b, e));
}

SmallVector<Value> expTogether(MathBuilder &b, ArrayRef<Value> numbers) {
  bool wide = b.isF64(numbers[0]);
  SmallVector<Exponential> all;
  for (Value x : numbers)
    all.push_back(wide ? exponentialF64(b, x) : exponentialF32(b, x));
  SmallVector<Value> usual;
  Value areNormal;
  for (const Exponential &e : all) {
    usual.push_back(e.usual);
    areNormal = areNormal ? b.andi(areNormal, e.isNormal) : e.isNormal;
  }
  auto branchOn = [&](vector::CombiningKind kind, Value lanes) {
    Value condition = vector::ReductionOp::create(b.builder, b.loc, kind, lanes);
    return scf::IfOp::create(b.builder, b.loc, ValueRange(usual).getTypes(), condition, /*withElseRegion=*/true);
  };
  auto branch = branchOn(vector::CombiningKind::AND, areNormal);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, usual);
  b.builder.setInsertionPointToStart(branch.elseBlock());
  // Most of such numbers are masks, far below.
  SmallVector<Value> isSmall;
  Value areSmall;
  for (const Exponential &e : all) {
    isSmall.push_back(isSubnormal(b, e));
    areSmall = areSmall ? b.ori(areSmall, isSmall.back()) : isSmall.back();
  }
  auto rare = branchOn(vector::CombiningKind::OR, areSmall);
  scf::YieldOp::create(b.builder, b.loc, rare.getResults());
  b.builder.setInsertionPointToStart(rare.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, usual);
  b.builder.setInsertionPointToStart(rare.thenBlock());
  SmallVector<Value> rounded;
  for (auto [e, mask] : llvm::zip_equal(all, isSmall))
    rounded.push_back(withSubnormals(b, e, mask));
  scf::YieldOp::create(b.builder, b.loc, rounded);
  return SmallVector<Value>(branch.getResults());
}

Value expF32(MathBuilder &b, Value x, bool isBounded) {
  if (b.canScale(x.getType()))
    return isBounded ? exponentialF32(b, x).usual : expTogether(b, x)[0];
  // Below -104 the result is 0, above 89 infinity, as the product with 2^130 is, however large r becomes. At -176 both halves of the scale
  // are 0: products that round to 0 take several times as long on some processors, and masks are far below.
  x = b.select(b.cmpf(CmpF::OLT, x, -176.0), b.f(-176.0, x.getType()), x);
  auto [number, biased] = b.roundProductBiased(x, kLog2e, 2, /*most=*/130);
  Value r = b.fma(number, -0x1.62e43p-1, x);
  r = b.fma(number, 0x1.05c61p-29, r);
  return b.scaleBiased(expPolynomial(b, r), biased);
}

Value exp2F32(MathBuilder &b, Value x) {
  Type f32 = x.getType();
  Value wide = b.extf(b.clamp(x, -160.0, 160.0), b.f64Like(f32));
  return b.truncf(exp2Lite(b, wide), f32);
}

std::pair<Value, Value> expAroundOneF32(MathBuilder &b, Value x) {
  auto [number, biased] = b.roundProductBiased(x, kLog2e, 1);
  Value r = b.fma(number, -0x1.62e43p-1, x);
  r = b.fma(number, 0x1.05c61p-29, r);
  Value q = b.poly(r, {5.000000000e-01, 1.666666716e-01, 4.166634381e-02, 8.333270438e-03, 1.394205145e-03,
                       1.991568279e-04});
  Value p = b.fma(q, b.mulf(r, r), r); // e^r - 1
  Value s = b.pow2Biased(biased);
  return {b.fma(s, p, b.addf(s, -1.0)), b.fma(s, p, b.addf(s, 1.0))};
}

Value expm1F32(MathBuilder &b, Value x) {
  // Below -17.5 the result is -1, above 89 infinity.
  Value limited = b.clamp(x, -17.5, 89.0);
  auto [number, n] = b.roundProduct(limited, kLog2e);
  Value r = b.fma(number, -0x1.62e43p-1, limited);
  r = b.fma(number, 0x1.05c61p-29, r);
  Value q = b.poly(r, {5.000000000e-01, 1.666666716e-01, 4.166634381e-02, 8.333270438e-03, 1.394205145e-03,
                       1.991568279e-04});
  Value p = b.fma(q, b.mulf(r, r), r); // e^r - 1
  // 2^n (p + 1) - 1, halved so that n = 128 does not overflow too early.
  Value s = b.pow2(b.subi(n, 1));
  Value half = b.fma(s, p, b.addf(s, -0.5));
  Value result = b.addf(half, half);
  Value isTiny = b.cmpf(CmpF::OLT, b.absf(x), 0x1p-26);
  return b.select(isTiny, x, result);
}

/// The logarithm's values where the argument `x` is not a positive finite number.
static Value logEdges(MathBuilder &b, Value x, Value result) {
  Type type = x.getType();
  result = b.select(b.cmpf(CmpF::OLT, x, b.inf(type)), result, x); // inf, NaN
  result = b.select(b.cmpf(CmpF::OLT, x, 0.0), b.nan(type), result);
  return b.select(b.cmpf(CmpF::OEQ, x, 0.0), b.inf(type, /*negative=*/true), result);
}

/// (log(1 + f) - f + f^2/2) / f^3, f in [sqrt(1/2) - 1, sqrt(2) - 1].
static Value logPolynomial(MathBuilder &b, Value f) {
  return b.poly(f, {3.333331347e-01, -2.500000894e-01, 2.000211775e-01, -1.666799635e-01, 1.421956271e-01,
                    -1.240557209e-01, 1.188809127e-01, -1.167578176e-01, 6.746946275e-02});
}

/// exponent ln2 + log(1 + f). Both parts of ln2 are positive: sums of infinite exponents are infinite.
static Value logSum(MathBuilder &b, Value f, Value exponent) {
  Value p = logPolynomial(b, f);
  Value z = b.mulf(f, f);
  Value y = b.mulf(b.mulf(p, f), z);
  y = b.fma(exponent, 0x1.7f7d1cp-20, y);
  y = b.fma(z, -0.5, y);
  return b.fma(exponent, 0x1.62e4p-1, b.addf(f, y));
}

/// `x` made normal, and what its exponent lost by that.
static std::pair<Value, Value> normalize(MathBuilder &b, Value x) {
  bool wide = b.isF64(x);
  Type integer = b.bitsOf(x.getType());
  Value isSubnormal = b.cmpf(CmpF::OLT, x, wide ? 0x1p-1022 : 0x1p-126);
  Value normal = b.select(isSubnormal, b.mulf(x, wide ? 0x1p54 : 0x1p25), x);
  return {normal, b.select(isSubnormal, b.i(wide ? 54 : 25, integer), b.i(0, integer))};
}

Value logF32(MathBuilder &b, Value x) {
  if (b.canScale(x.getType())) {
    auto [m, e] = b.splitAny(x);
    return logSum(b, b.subf(m, 1.0), e);
  }
  auto [normal, shift] = normalize(b, x);
  auto [m, e] = b.split(normal);
  Value exponent = b.sitofp(b.subi(e, shift), x.getType());
  return logEdges(b, x, logSum(b, b.subf(m, 1.0), exponent));
}

Value log1pF32(MathBuilder &b, Value x) {
  Value one = b.f(1.0, x.getType());
  Value u = b.addf(x, one);
  // The rounding error of 1 + x (Knuth's two-sum), scaled like the significand.
  Value back = b.subf(u, one);
  Value lost = b.addf(b.subf(one, b.subf(u, back)), b.subf(x, back));
  if (b.canScale(x.getType())) {
    auto [m, e] = b.splitAny(u);
    Value isUsual = b.andi(b.cmpf(CmpF::OGT, u, 0.0), b.cmpf(CmpF::OLT, u, b.inf(x.getType())));
    Value f = b.addf(b.subf(m, one), b.scale(lost, b.negf(e), isUsual));
    return b.keepZero(x, logSum(b, f, e));
  }
  auto [m, e] = b.split(u);
  Value limited = arith::MinSIOp::create(b.builder, b.loc, e, b.i(126, e.getType()));
  Value scale = b.pow2(b.subi(b.i(0, e.getType()), limited));
  Value f = b.fma(lost, scale, b.subf(m, one));
  Value result = logSum(b, f, b.sitofp(e, x.getType()));
  // u has the edges of log, but for x = inf, where `lost` is NaN.
  result = logEdges(b, u, result);
  return b.keepZero(x, result);
}

/// The logarithm of another base in f32 alone: products with its constants in two parts.
static Value scaledLogF32(MathBuilder &b, Value x, bool base10) {
  auto [m, e] = b.splitAny(x);
  Value f = b.subf(m, 1.0), z = b.mulf(f, f);
  Value rest = b.fma(b.mulf(logPolynomial(b, f), f), z, b.mulf(z, -0.5));
  // log(1 + f) in two parts, and e times the logarithm of 2, of which the first part is exact.
  Value high = b.addf(f, rest), low = b.subf(rest, b.subf(high, f));
  double scale = base10 ? 0x1.bcb7b2p-2 : 0x1.715476p0, scaleLow = base10 ? -0x1.5b235ep-27 : 0x1.4ae0cp-26;
  double two = base10 ? 0x1.344p-2 : 1.0, twoLow = base10 ? 0x1.3509f8p-18 : 0.0;
  Value whole = base10 ? b.mulf(e, two) : e;
  Value correction = b.fma(high, scaleLow, b.mulf(low, scale));
  if (base10)
    correction = b.fma(e, twoLow, correction);
  Value sum = b.fma(high, scale, whole);
  Value lost = b.fma(high, scale, b.subf(whole, sum));
  // Of infinities nothing is lost.
  return b.select(b.isNan(lost), sum, b.addf(sum, b.addf(lost, correction)));
}

Value log2F32(MathBuilder &b, Value x, bool base10) {
  if (b.canScale(x.getType()))
    return scaledLogF32(b, x, base10);
  // Every f32 is normal in f64.
  Value wide = b.extf(x, b.f64Like(x.getType()));
  Value result = log2Lite(b, wide);
  if (base10)
    result = b.mulf(result, 0.30102999566398119521);
  return b.truncf(logEdges(b, wide, result), x.getType());
}

Value expF64(MathBuilder &b, Value x, bool isBounded) {
  if (b.canScale(x.getType()))
    return isBounded ? exponentialF64(b, x).usual : expTogether(b, x)[0];
  // Below -746 the result is 0, above 710 infinity. At -1418 both halves of the scale are 0, as above.
  x = b.clamp(x, -1418.0, 710.0);
  auto [number, biased] = b.roundProductBiased(x, kLog2e, 2);
  return b.scaleBiased(expPolynomialF64(b, x, number), biased);
}

Value expm1F64(MathBuilder &b, Value x) {
  // Below -38 the result is -1, above 710 infinity.
  Value limited = b.clamp(x, -40.0, 710.0);
  auto [number, n] = b.roundProduct(limited, kLog2e);
  // r and what it is rounded by: the first difference is exact.
  Value first = b.fma(number, -0x1.62e42fefa0000p-1, limited), rest = b.mulf(number, -0x1.cf79abc9e3b39p-40);
  Value r = b.addf(first, rest), rLow = b.addf(b.subf(first, r), rest);
  Value q = b.poly(r, {0.5000000000000001, 0.1666666666666667, 0.041666666666652245, 0.00833333333332613, 0.001388888889561318,
                       0.00019841269874844905, 2.4801574517656775e-05, 2.755725536056358e-06, 2.7567935760643254e-07, 2.5105236375078356e-08,
                       1.768769119018657e-09});
  // e^r - 1 in two parts.
  Value above = b.fma(b.mulf(r, r), q, b.fma(r, rLow, rLow));
  Value p = b.addf(r, above), pLow = b.addf(b.subf(r, p), above);
  // 2^n (p + 1) - 1, halved so that n = 1024 does not overflow too early; Knuth's sum.
  Value s = b.pow2(b.subi(n, 1)), big = b.addf(s, -0.5), part = b.mulf(s, p);
  Value sum = b.addf(big, part), back = b.subf(sum, big);
  Value lost = b.addf(b.subf(big, b.subf(sum, back)), b.subf(part, back));
  Value half = b.addf(sum, b.fma(s, pLow, lost));
  // The sum loses nothing of infinity: it is not a number.
  Value result = b.select(b.cmpf(CmpF::OGE, x, 709.9), b.inf(x.getType()), b.addf(half, half));
  Value isTiny = b.cmpf(CmpF::OLT, b.absf(x), 0x1p-54);
  return b.select(isTiny, x, result);
}

/// exponent ln2 + log(m).
static Value logSumF64(MathBuilder &b, Value m, Value exponent) {
  // log(m) = 2 atanh(s), s = f / (2 + f), written as f - (f^2/2 - s (f^2/2 + R)) so that f, which is exact, comes last.
  Value f = b.subf(m, 1.0);
  Value s = b.divf(f, b.addf(f, 2.0));
  Value z = b.mulf(s, s);
  Value q = b.poly(z, {3.33333333333333093e-01, 2.00000000000200712e-01, 1.42857142795382974e-01, 1.11111120222405699e-01,
                       9.09083574951435047e-02, 7.69567513407149600e-02, 6.57998354249291345e-02,
                       7.01165205310795708e-02});
  Value rest = b.mulf(b.mulf(z, q), 2.0);
  Value halfSquare = b.mulf(b.mulf(f, f), 0.5);
  Value correction = b.mulf(s, b.addf(halfSquare, rest));
  correction = b.fma(exponent, 1.90821492927058770002e-10, correction);
  Value low = b.subf(halfSquare, correction);
  return b.fma(exponent, 6.93147180369123816490e-01, b.subf(f, low));
}

Value logF64(MathBuilder &b, Value x) {
  if (b.canScale(x.getType())) {
    auto [m, e] = b.splitAny(x);
    return logSumF64(b, m, e);
  }
  auto [normal, shift] = normalize(b, x);
  auto [m, e] = b.split(normal);
  return logEdges(b, x, logSumF64(b, m, b.sitofp(b.subi(e, shift), x.getType())));
}

Value log1pF64(MathBuilder &b, Value x) {
  // log(u) + lost / u, u being 1 + x rounded.
  Value one = b.f(1.0, x.getType()), u = b.addf(x, one), back = b.subf(u, one);
  Value lost = b.addf(b.subf(one, b.subf(u, back)), b.subf(x, back));
  Value log = logF64(b, u);
  Value isUsual = b.andi(b.cmpf(CmpF::OGT, u, 0.0), b.cmpf(CmpF::OLT, u, b.inf(x.getType())));
  return b.keepZero(x, b.select(isUsual, b.addf(log, b.divf(lost, u)), log));
}

Value exp2Lite(MathBuilder &b, Value x) {
  auto [number, biased] = b.roundProductBiased(x, 1.0, 1);
  Value p = b.poly(b.subf(x, number), {1.0, 0.6931471807045331, 0.24022651066563205, 0.05550410365989318, 0.009618038131713058,
                                       0.001333393505625479, 0.00015466756438292894, 1.5196156642310917e-05});
  return b.mulf(p, b.pow2Biased(biased));
}

Value log2Lite(MathBuilder &b, Value x) {
  // A polynomial longer than that of atanh, whose argument is a quotient: a division takes as long as all of it.
  auto [m, e] = b.split(x);
  Value f = b.subf(m, 1.0);
  Value p = b.poly(f, {1.442695040868705, -0.7213475208687424, 0.4808983613957305, -0.36067367483055013, 0.2885372934457707,
                       -0.24045316542189307, 0.2061753602715838, -0.18030060627859545, 0.15876979313501124, -0.14315639513969364,
                       0.14474844352334912, -0.14283964531360172, 0.07737073555923421});
  return b.fma(f, p, b.sitofp(e, x.getType()));
}

} // namespace millrace::lowering

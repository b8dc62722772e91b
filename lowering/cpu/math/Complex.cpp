// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Complex.cpp - Functions of complex numbers in their parts ----------===//
// In operations on real numbers that have vectors. Infinities and NaN as C99's annex G has them, but for exp.
#include "lowering/cpu/math/Functions.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;

namespace millrace::lowering {

/// sqrt(re^2 + im^2) of parts divided by the power of two of the larger one.
Value complexAbs(MathBuilder &b, ComplexParts x) {
  Type type = x.re.getType();
  bool wide = b.isF64(x.re);
  Value re = b.absf(x.re), im = b.absf(x.im);
  // Exponents as bits: of the larger part, neither so small nor so large that it has no reciprocal.
  int64_t one = wide ? int64_t(1023) << 52 : int64_t(127) << 23, least = wide ? int64_t(1) << 52 : int64_t(1) << 23;
  Value bits = arith::MaxUIOp::create(b.builder, b.loc, b.bits(re), b.bits(im));
  Value exponent = b.andi(bits, wide ? 0x7ff0000000000000 : 0x7f800000);
  exponent = arith::MaxUIOp::create(b.builder, b.loc, exponent, b.i(least, exponent.getType()));
  exponent = arith::MinUIOp::create(b.builder, b.loc, exponent, b.i(2 * one - least, exponent.getType()));
  Value scale = b.bitcast(b.subi(b.i(2 * one, exponent.getType()), exponent), type);
  Value a = b.mulf(re, scale), c = b.mulf(im, scale);
  Value root = b.mulf(b.sqrt(b.fma(a, a, b.mulf(c, c))), b.bitcast(exponent, type));
  // Infinite even if the other part is NaN.
  Value inf = b.inf(type);
  return b.select(b.ori(b.cmpf(CmpF::OEQ, re, inf), b.cmpf(CmpF::OEQ, im, inf)), inf, root);
}

ComplexParts complexExp(MathBuilder &b, ComplexParts z) {
  Value x = z.re, y = z.im;
  Type type = x.getType();
  bool wide = b.isF64(x);
  Value sine = math::SinOp::create(b.builder, b.loc, y), cosine = math::CosOp::create(b.builder, b.loc, y);
  // An exponential that is too large for its type can still become a number when it is multiplied by a small sine: two factors of it are
  // multiplied apart, one before and one behind. The difference is exact.
  Value isBig = b.cmpf(CmpF::OGT, x, wide ? 700.0 : 80.0), one = b.f(1.0, type), zero = b.f(0.0, type);
  double part = wide ? 500.0 : 66.0;
  Value e = math::ExpOp::create(b.builder, b.loc, b.subf(x, b.select(isBig, b.f(2 * part, type), zero)));
  Value rest = b.select(isBig, b.f(std::exp(part), type), one);
  Value real = b.mulf(b.mulf(b.mulf(cosine, rest), e), rest), imaginary = b.mulf(b.mulf(b.mulf(sine, rest), e), rest);
  // Real numbers stay real. An infinite y has no angle, so both parts are NaN whatever x is, as XLA and StableHLO's interpreter have it
  // (annex G has a zero or an infinite real part for infinite x).
  return {real, b.select(b.cmpf(CmpF::OEQ, y, 0.0), y, imaginary)};
}

ComplexParts complexSqrt(MathBuilder &b, ComplexParts z) {
  Type part = z.re.getType();
  if (b.isF64(z.re))
    return {};
  // Squares of f32 are exact in f64, whose range neither overflows nor underflows here.
  Type f64 = b.f64Like(part);
  Value x = b.extf(z.re, f64), y = b.extf(z.im, f64), a = b.absf(x), c = b.absf(y), inf = b.inf(f64), zero = b.f(0.0, f64);
  Value radius = b.sqrt(b.fma(a, a, b.mulf(c, c)));
  // The larger part of the root, and the other one: their product is |y| / 2. Infinite even if y is not a number.
  Value larger = b.select(b.cmpf(CmpF::OEQ, a, inf), inf, b.sqrt(b.mulf(b.addf(a, radius), 0.5)));
  Value smaller = b.select(b.cmpf(CmpF::OEQ, larger, 0.0), zero, b.divf(b.mulf(c, 0.5), larger));
  Value isLeft = b.cmpf(CmpF::OLT, x, 0.0), isTall = b.cmpf(CmpF::OEQ, c, inf);
  Value re = b.select(isTall, inf, b.select(isLeft, smaller, larger));
  Value im = b.select(isTall, inf, b.select(isLeft, larger, smaller));
  return {b.truncf(re, part), b.truncf(b.copysign(im, y), part)};
}

/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y): nothing cancels.
ComplexParts complexTanh(MathBuilder &b, ComplexParts z) {
  Type part = z.re.getType();
  if (b.isF64(z.re))
    return {};
  Type f64 = b.f64Like(part);
  Value x = b.extf(z.re, f64), y = b.extf(z.im, f64), a = b.absf(x), one = b.f(1.0, f64);
  // From there on the result is 1 and a zero of f32.
  Value limited = b.select(b.cmpf(CmpF::OGT, a, 100.0), b.f(100.0, f64), a);
  Value e = math::ExpM1Op::create(b.builder, b.loc, limited), inverse = b.divf(one, b.addf(e, 1.0));
  Value sinh = b.mulf(b.fma(e, inverse, e), 0.5), cosh = b.addf(sinh, inverse);
  Value sine = math::SinOp::create(b.builder, b.loc, y), cosine = math::CosOp::create(b.builder, b.loc, y);
  Value scale = b.divf(one, b.fma(sinh, sinh, b.mulf(cosine, cosine)));
  Value re = b.mulf(b.mulf(sinh, cosh), scale), im = b.mulf(b.mulf(sine, cosine), scale);
  // Angles that are none: of infinite x they do not matter, nor does the real part of what is imaginary.
  Value hasNoAngle = b.not1(b.cmpf(CmpF::OLT, b.absf(y), b.inf(f64)));
  Value vanishes = b.andi(b.cmpf(CmpF::OEQ, a, b.inf(f64)), hasNoAngle);
  re = b.select(vanishes, one, b.select(b.cmpf(CmpF::OEQ, x, 0.0), a, re));
  im = b.select(vanishes, b.copysign(b.f(0.0, f64), y), b.keepZero(y, im));
  return {b.truncf(b.copysign(re, x), part), b.truncf(im, part)};
}

ComplexParts complexDivision(MathBuilder &b, ComplexParts x, ComplexParts y) {
  Type part = x.re.getType();
  if (b.isF64(x.re))
    return {};
  // Products of f32 are exact in f64, whose range neither overflows nor underflows here.
  Type f64 = b.f64Like(part);
  Value xr = b.extf(x.re, f64), xi = b.extf(x.im, f64), yr = b.extf(y.re, f64), yi = b.extf(y.im, f64);
  Value denominator = b.addf(b.mulf(yr, yr), b.mulf(yi, yi));
  auto quotient = [&](Value a, Value c) {
    return std::pair(b.addf(b.mulf(a, yr), b.mulf(c, yi)), b.subf(b.mulf(c, yr), b.mulf(a, yi)));
  };
  auto [real, imaginary] = quotient(xr, xi);
  Value re = b.divf(real, denominator), im = b.divf(imaginary, denominator);
  // Not a number by these formulas: zero divisors and infinities.
  Value bothNan = b.andi(b.isNan(re), b.isNan(im));
  Value inf = b.inf(f64), zero = b.f(0.0, f64), one = b.f(1.0, f64);
  auto isInf = [&](Value v) { return b.cmpf(CmpF::OEQ, b.absf(v), inf); };
  auto isFinite = [&](Value v) { return b.cmpf(CmpF::OLT, b.absf(v), inf); };
  auto boxed = [&](Value v) { return b.copysign(b.select(isInf(v), one, zero), v); };
  Value byZero = b.cmpf(CmpF::OEQ, denominator, 0.0);
  Value signedInf = b.copysign(inf, yr);
  Value yFinite = b.andi(isFinite(yr), isFinite(yi)), xFinite = b.andi(isFinite(xr), isFinite(xi));
  Value infByFinite = b.andi(b.ori(isInf(xr), isInf(xi)), yFinite);
  Value finiteByInf = b.andi(xFinite, b.ori(isInf(yr), isInf(yi)));
  auto [infReal, infImaginary] = quotient(boxed(xr), boxed(xi));
  Value br = boxed(yr), bi = boxed(yi);
  Value zeroReal = b.mulf(zero, b.addf(b.mulf(xr, br), b.mulf(xi, bi)));
  Value zeroImaginary = b.mulf(zero, b.subf(b.mulf(xi, br), b.mulf(xr, bi)));
  auto repair = [&](Value plain, Value numerator, Value infinite, Value vanishing) {
    Value value = b.select(finiteByInf, vanishing, plain);
    value = b.select(infByFinite, b.mulf(inf, infinite), value);
    value = b.select(byZero, b.mulf(signedInf, numerator), value);
    return b.select(bothNan, value, plain);
  };
  return {b.truncf(repair(re, xr, infReal, zeroReal), part), b.truncf(repair(im, xi, infImaginary, zeroImaginary), part)};
}

/// exp(y log x), and 1 for y = 0, 0 for zeros x to powers above 0.
ComplexParts complexPower(MathBuilder &b, ComplexParts x, ComplexParts y) {
  Type part = x.re.getType();
  if (b.isF64(x.re))
    return {};
  // Squares of f32 are exact in f64, whose range neither overflows nor underflows here.
  Type f64 = b.f64Like(part);
  Value xr = b.extf(x.re, f64), xi = b.extf(x.im, f64), yr = b.extf(y.re, f64), yi = b.extf(y.im, f64), inf = b.inf(f64), zero = b.f(0.0, f64);
  Value square = b.addf(b.mulf(xr, xr), b.mulf(xi, xi));
  Value logarithm = b.mulf(math::LogOp::create(b.builder, b.loc, square), 0.5);
  // Infinite even if the other part is NaN.
  Value isInf = b.ori(b.cmpf(CmpF::OEQ, b.absf(xr), inf), b.cmpf(CmpF::OEQ, b.absf(xi), inf));
  logarithm = b.select(isInf, inf, logarithm);
  Value angle = angleOf(b, xi, xr);
  Value magnitude = math::ExpOp::create(b.builder, b.loc, b.subf(b.mulf(yr, logarithm), b.mulf(yi, angle)));
  Value phase = b.addf(b.mulf(yi, logarithm), b.mulf(yr, angle));
  Value re = b.mulf(magnitude, math::CosOp::create(b.builder, b.loc, phase)), im = b.mulf(magnitude, math::SinOp::create(b.builder, b.loc, phase));
  Value isReal = b.cmpf(CmpF::OEQ, yi, 0.0);
  Value isOne = b.andi(isReal, b.cmpf(CmpF::OEQ, yr, 0.0));
  Value isZero = b.andi(b.cmpf(CmpF::OEQ, square, 0.0), b.andi(isReal, b.cmpf(CmpF::OGT, yr, 0.0)));
  re = b.select(isOne, b.f(1.0, f64), b.select(isZero, zero, re));
  im = b.select(b.ori(isOne, isZero), zero, im);
  return {b.truncf(re, part), b.truncf(im, part)};
}

} // namespace millrace::lowering

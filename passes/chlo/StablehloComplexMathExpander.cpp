// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StablehloComplexMathExpander.cpp - Complex functions by parts ------===//
// Input:   %1 = stablehlo.log_plus_one %0 : tensor<4xcomplex<f64>>
// Output:  log|1 + z| and the angle of 1 + z in operations on real and imaginary parts
// Leaves alone functions of real numbers and all other complex functions.
// Double-word sums: T. J. Dekker, "A floating-point technique for extending the available precision" (1971).
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/chlo/FunctionPattern.h"
#include "passes/chlo/Passes.h"

using namespace mlir;
namespace millrace::chlo {

#define GEN_PASS_DEF_STABLEHLOCOMPLEXMATHEXPANDERPASS
#include "passes/chlo/Passes.h.inc"

namespace {
/// An unevaluated sum.
struct Pair {
  Expr high, low;
};
} // namespace

/// a + b and its rounding error.
static Pair twoSum(Expr a, Expr b) {
  Expr sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// a * a and its rounding error. `a` is below 2^500: the split does not overflow.
static Pair twoSquare(Expr a) {
  Expr scaled = a * 134217729.0; // 2^27 + 1
  Expr high = scaled - (scaled - a), low = a - high;
  Expr square = a * a;
  return {square, low * low - ((square - high * high) - 2.0 * high * low)};
}

/// log |(1 + x) + iy| near 1, where |1 + z|^2 - 1 = 2x + x^2 + y^2 cancels: errors are collected apart.
static Expr logLengthNearOne(Expr x, Expr y) {
  Pair xx = twoSquare(x), yy = twoSquare(y);
  Pair first = twoSum(x + x, xx.high), second = twoSum(first.high, yy.high);
  Expr rest = (first.low + second.low) + (xx.low + yy.low);
  Pair sum = twoSum(second.high, rest);
  // log1p(h + l) = log1p(h) + l / (1 + h)
  return 0.5 * (log1p(sum.high) + sum.low / (1.0 + sum.high));
}

/// log of the length of (a, b), both not negative, whose square may leave the range.
static Expr logLength(Expr a, Expr b) {
  Expr large = max(a, b), ratio = min(a, b) / large;
  Expr square = select((large == large.infinity()) | (large == 0.0), large.constant(0.0), ratio * ratio);
  return log(large) + 0.5 * log1p(square);
}

/// Also of -0.
static Expr isNegative(Expr x) { return atan2(x, x.constant(-1.0)) < 0.0; }
static Expr copySign(Expr magnitude, Expr x) { return select(isNegative(x), -magnitude, magnitude); }

static ComplexExpr log1pComplex(ComplexExpr z) {
  Expr x = z.re, y = z.im, ax = abs(x), ay = abs(y);
  // Far away 1 + z is z; next to z = -1 the sum 1 + x is exact.
  Expr shifted = abs(1.0 + x), large = max(ax, ay);
  Expr re = select(max(shifted, ay) < 0.5, logLength(shifted, ay), logLengthNearOne(x, y));
  return {select(large > 1e100, logLength(ax, ay), re), atan2(y, 1.0 + x)};
}

/// With the larger part a, |z|^2 = (1 + (a - 1))^2 + b^2, and a - 1 is exact near 1.
static ComplexExpr logComplex(ComplexExpr z) {
  Expr ax = abs(z.re), ay = abs(z.im), large = max(ax, ay), small = min(ax, ay);
  Expr near = (large > 0.5) & (large < 2.0);
  return {select(near, logLengthNearOne(large - 1.0, small), logLength(ax, ay)), atan2(z.im, z.re)};
}

/// u = sqrt((|x| + |z|) / 2) is the larger part of the root, |y| / 2u the other. W. Kahan, "Branch cuts for complex elementary
/// functions" (1987).
static ComplexExpr sqrtComplex(ComplexExpr z) {
  Expr ax = abs(z.re), ay = abs(z.im), large = max(ax, ay);
  // By powers of 4 away from both ends of the range.
  Expr one = ax.constant(1.0), isHuge = large > 0x1p+1000, isTiny = large < 0x1p-900;
  Expr scale = select(isHuge, one * 0x1p-200, select(isTiny, one * 0x1p+200, one));
  Expr back = select(isHuge, one * 0x1p+100, select(isTiny, one * 0x1p-100, one));
  Expr x = ax * scale, y = ay * scale, most = max(x, y), ratio = min(x, y) / most;
  Expr length = most * sqrt(1.0 + ratio * ratio);
  // The other part is the quotient of unscaled numbers: next to a huge |x| the scaled |y| may have vanished.
  Expr u = sqrt(0.5 * (x + length)) * back, v = ay / (2.0 * u);
  // 0/0, and a length whose parts are both infinite.
  Expr zero = most == 0.0, infinite = ay == ay.infinity();
  u = select(zero, most, u);
  v = select(zero, most, v);
  Expr right = !isNegative(z.re), re = select(right, u, v), im = select(right, v, u);
  return {select(infinite, ay, re), copySign(select(infinite, ay, im), z.im)};
}

/// With t = tan x, b = 1 + t^2, s = sinh y: (t + i b s sqrt(1 + s^2)) / (1 + b s^2). W. Kahan, as above.
static ComplexExpr tanComplex(ComplexExpr z) {
  Expr y = abs(z.im), em1 = expm1(y);
  Expr t = tan(z.re), b = 1.0 + t * t, s = 0.5 * (em1 + em1 / (em1 + 1.0));
  Expr denominator = 1.0 + b * s * s, re = t / denominator, im = b * s * sqrt(1.0 + s * s) / denominator;
  // Far from the real axis tan z = i + 4 sin x cos x e^(-2y); squares would leave the range.
  Expr far = y > 20.0, half = exp(-y), product = sin(z.re) * cos(z.re);
  Expr isInfinite = y == y.infinity();
  Expr farRe = select(isInfinite, copySign(y.constant(0.0), product), 4.0 * product * half * half);
  // An x without an angle is NaN for every y but an infinite one.
  Expr farIm = select(isInfinite, y.constant(1.0), 1.0 + 0.0 * product);
  // A real x stays real, also where it has no angle.
  Expr result = select(y == 0.0, y, select(far, farIm, im));
  return {select(far, farRe, re), copySign(result, z.im)};
}

namespace {
struct StablehloComplexMathExpander : impl::StablehloComplexMathExpanderPassBase<StablehloComplexMathExpander> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<UnaryFunction<stablehlo::Log1pOp, nullptr, log1pComplex>,
            UnaryFunction<stablehlo::LogOp, nullptr, logComplex>, UnaryFunction<stablehlo::SqrtOp, nullptr, sqrtComplex>,
            UnaryFunction<stablehlo::TanOp, nullptr, tanComplex>>(context);
    patterns = std::move(set);
    return success();
  }
  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      signalPassFailure();
  }
  FrozenRewritePatternSet patterns;
};
} // namespace

} // namespace millrace::chlo

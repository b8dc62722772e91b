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

static ComplexExpr log1pComplex(ComplexExpr z) {
  Expr x = z.re, y = z.im, ax = abs(x), ay = abs(y);
  // |1 + z|^2 - 1 = 2x + x^2 + y^2, errors collected apart.
  Pair xx = twoSquare(x), yy = twoSquare(y);
  Pair first = twoSum(x + x, xx.high), second = twoSum(first.high, yy.high);
  Expr rest = (first.low + second.low) + (xx.low + yy.low);
  Pair sum = twoSum(second.high, rest);
  // log1p(h + l) = log1p(h) + l / (1 + h)
  Expr near = 0.5 * (log1p(sum.high) + sum.low / (1.0 + sum.high));
  // log of a length whose square may leave the range.
  auto logLength = [](Expr a, Expr b) {
    Expr large = max(a, b), ratio = min(a, b) / large;
    Expr square = select((large == large.infinity()) | (large == 0.0), large.constant(0.0), ratio * ratio);
    return log(large) + 0.5 * log1p(square);
  };
  // Far away 1 + z is z; next to z = -1 the sum 1 + x is exact.
  Expr shifted = abs(1.0 + x), large = max(ax, ay);
  Expr re = select(max(shifted, ay) < 0.5, logLength(shifted, ay), near);
  return {select(large > 1e100, logLength(ax, ay), re), atan2(y, 1.0 + x)};
}

namespace {
struct StablehloComplexMathExpander : impl::StablehloComplexMathExpanderPassBase<StablehloComplexMathExpander> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<UnaryFunction<stablehlo::Log1pOp, nullptr, log1pComplex>>(context);
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

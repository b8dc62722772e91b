// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionPattern.h - Patterns from formulas -------------------------===//
#pragma once
#include "mlir/IR/PatternMatch.h"
#include "passes/chlo/Expr.h"

namespace millrace::chlo {

/// Returns the type of the computation: narrow floats are computed in f32 and rounded once.
inline mlir::Type computeType(mlir::Type elementType) {
  return elementType.getIntOrFloatBitWidth() < 32 ? mlir::Float32Type::get(elementType.getContext()) : elementType;
}

/// Expands a unary function of floats by `Real`, of complex numbers by `Complex` (null if the operation has none). Parts of complex<f32> are computed
/// in f64, because the formulas keep f32 accuracy only with a few more bits.
template <typename Op, Expr (*Real)(Expr), ComplexExpr (*Complex)(ComplexExpr) = nullptr>
struct UnaryFunction : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    Expr x(rewriter, op.getLoc(), op.getOperand());
    mlir::Type elementType = x.getElementType();
    if (auto complex = mlir::dyn_cast<mlir::ComplexType>(elementType)) {
      if constexpr (Complex != nullptr) {
        mlir::Type f64 = rewriter.getF64Type(), part = complex.getElementType();
        Expr re = x.unary<stablehlo::RealOp>().convert(f64), im = x.unary<stablehlo::ImagOp>().convert(f64);
        ComplexExpr result = Complex({re, im});
        mlir::Value value = stablehlo::ComplexOp::create(rewriter, op.getLoc(), result.re.convert(part).get(),
                                                         result.im.convert(part).get());
        rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), value, op.getType()));
        return mlir::success();
      }
      return rewriter.notifyMatchFailure(op, "no complex formula");
    }
    if constexpr (Real != nullptr) {
      if (!mlir::isa<mlir::FloatType>(elementType))
        return rewriter.notifyMatchFailure(op, "not of floats");
      Expr result = Real(x.convert(computeType(elementType))).convert(elementType);
      rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result.get(), op.getType()));
      return mlir::success();
    }
    return rewriter.notifyMatchFailure(op, "no real formula");
  }
};

} // namespace millrace::chlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeBroadcast.cpp - Make implicit broadcasts explicit ----------===//
#include "dialects/chlo/Ops.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/chlo/Expr.h"
#include "passes/chlo/Passes.h"

using namespace mlir;
namespace millrace::chlo {

/// Broadcasts `value` to the shape of `type`; its dimension d becomes `dims[d]`. `shape` is that shape as a value, null if static.
static Value broadcastTo(OpBuilder &builder, Location loc, Value value, RankedTensorType type, ArrayRef<int64_t> dims,
                         Value shape) {
  auto from = cast<RankedTensorType>(value.getType());
  auto to = RankedTensorType::get(type.getShape(), from.getElementType());
  if (from == to && !shape)
    return value;
  if (shape)
    return stablehlo::DynamicBroadcastInDimOp::create(builder, loc, to, value, shape,
                                                      builder.getDenseI64ArrayAttr(dims));
  return stablehlo::BroadcastInDimOp::create(builder, loc, to, value, builder.getDenseI64ArrayAttr(dims));
}

/// Returns the result's dimensions of an operand: `given` for the operand of lower rank, else aligned at the end.
static SmallVector<int64_t> dimsOf(Value operand, int64_t rank, std::optional<ArrayRef<int64_t>> given) {
  int64_t operandRank = cast<RankedTensorType>(operand.getType()).getRank();
  if (given && operandRank < rank)
    return SmallVector<int64_t>(*given);
  return llvm::to_vector(llvm::seq<int64_t>(rank - operandRank, rank));
}

/// Returns the shape of a result with dynamic dimensions; null if it is static.
template <typename Op>
static FailureOr<Value> dynamicShape(Op op, PatternRewriter &rewriter) {
  if (cast<RankedTensorType>(op.getType()).hasStaticShape() &&
      llvm::all_of(op->getOperandTypes(), [](Type type) { return cast<ShapedType>(type).hasStaticShape(); }))
    return Value();
  SmallVector<Value> shapes;
  if (failed(op.reifyReturnTypeShapes(rewriter, op->getOperands(), shapes)))
    return failure();
  return shapes.front();
}

namespace {
template <typename From, typename To>
struct ConvertBroadcastBinary : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
    std::optional<ArrayRef<int64_t>> dims = op.getBroadcastDimensions();
    if (dims && !areValidBroadcastDimensions(*dims, rankOf(op.getLhs()), rankOf(op.getRhs()))) {
      emitUnsupportedBroadcastDimensions(op, *dims);
      return failure();
    }
    auto shape = dynamicShape(op, rewriter);
    if (failed(shape))
      return rewriter.notifyMatchFailure(op, "shape of the result is not computable");
    Value lhs = broadcastTo(rewriter, op.getLoc(), op.getLhs(), type,
                            dimsOf(op.getLhs(), type.getRank(), op.getBroadcastDimensions()), *shape);
    Value rhs = broadcastTo(rewriter, op.getLoc(), op.getRhs(), type,
                            dimsOf(op.getRhs(), type.getRank(), op.getBroadcastDimensions()), *shape);
    if constexpr (std::is_same_v<From, BroadcastCompareOp>) {
      auto direction = static_cast<stablehlo::ComparisonDirection>(op.getComparisonDirection());
      auto kind = op.getCompareType() ? static_cast<stablehlo::ComparisonType>(*op.getCompareType())
                                      : stablehlo::ComparisonType::NOTYPE;
      Value result = stablehlo::CompareOp::create(rewriter, op.getLoc(), lhs, rhs, direction, kind);
      rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    } else {
      Value result = To::create(rewriter, op.getLoc(), lhs, rhs);
      rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    }
    return success();
  }
};

struct ConvertBroadcastSelect : OpRewritePattern<BroadcastSelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastSelectOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    auto shape = dynamicShape(op, rewriter);
    if (failed(shape))
      return rewriter.notifyMatchFailure(op, "shape of the result is not computable");
    auto operand = [&](Value value) {
      return broadcastTo(rewriter, op.getLoc(), value, type, dimsOf(value, type.getRank(), std::nullopt), *shape);
    };
    // A 0-d predicate needs no broadcast.
    bool scalar = cast<RankedTensorType>(op.getPred().getType()).getRank() == 0;
    Value pred = scalar ? op.getPred() : operand(op.getPred());
    Value onTrue = operand(op.getOnTrue()), onFalse = operand(op.getOnFalse());
    rewriter.replaceOpWithNewOp<stablehlo::SelectOp>(op, type, pred, onTrue, onFalse);
    return success();
  }
};
} // namespace

void populateBroadcastPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertBroadcastBinary<BroadcastAddOp, stablehlo::AddOp>,
               ConvertBroadcastBinary<BroadcastAndOp, stablehlo::AndOp>,
               ConvertBroadcastBinary<BroadcastAtan2Op, stablehlo::Atan2Op>,
               ConvertBroadcastBinary<BroadcastComplexOp, stablehlo::ComplexOp>,
               ConvertBroadcastBinary<BroadcastDivOp, stablehlo::DivOp>,
               ConvertBroadcastBinary<BroadcastMaxOp, stablehlo::MaxOp>,
               ConvertBroadcastBinary<BroadcastMinOp, stablehlo::MinOp>,
               ConvertBroadcastBinary<BroadcastMulOp, stablehlo::MulOp>,
               ConvertBroadcastBinary<BroadcastNextAfterOp, NextAfterOp>,
               ConvertBroadcastBinary<BroadcastOrOp, stablehlo::OrOp>,
               ConvertBroadcastBinary<BroadcastPolygammaOp, PolygammaOp>,
               ConvertBroadcastBinary<BroadcastPowOp, stablehlo::PowOp>,
               ConvertBroadcastBinary<BroadcastRemOp, stablehlo::RemOp>,
               ConvertBroadcastBinary<BroadcastShiftLeftOp, stablehlo::ShiftLeftOp>,
               ConvertBroadcastBinary<BroadcastShiftRightArithmeticOp, stablehlo::ShiftRightArithmeticOp>,
               ConvertBroadcastBinary<BroadcastShiftRightLogicalOp, stablehlo::ShiftRightLogicalOp>,
               ConvertBroadcastBinary<BroadcastSubOp, stablehlo::SubtractOp>,
               ConvertBroadcastBinary<BroadcastXorOp, stablehlo::XorOp>,
               ConvertBroadcastBinary<BroadcastZetaOp, ZetaOp>,
               ConvertBroadcastBinary<BroadcastCompareOp, stablehlo::CompareOp>, ConvertBroadcastSelect>(
      patterns.getContext());
}

} // namespace millrace::chlo

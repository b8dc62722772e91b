// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismFold.cpp - Dynamic operations with constant operands -------===//
#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace millrace::stablehlo {
namespace {

/// Input:  dynamic_broadcast_in_dim with a static result    Output: broadcast_in_dim
/// Also replaces the identity, which has the same type and dimensions in order.
struct StaticBroadcastInDim : OpRewritePattern<DynamicBroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicBroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!type.hasStaticShape() || !cast<ShapedType>(op.getOperand().getType()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic operand or result");
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, type, op.getOperand(), op.getBroadcastDimensionsAttr());
    return success();
  }
};

/// Input:  dynamic_broadcast_in_dim to the operand's own shape, all dimensions known not to expand     Output: the operand
struct IdentityBroadcastInDim : OpRewritePattern<DynamicBroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicBroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (op.getOperand().getType() != type)
      return rewriter.notifyMatchFailure(op, "changes the type");
    if (!llvm::equal(op.getBroadcastDimensions(), llvm::seq<int64_t>(0, type.getRank())))
      return rewriter.notifyMatchFailure(op, "permutes");
    ArrayRef<int64_t> fixed = op.getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>());
    for (int64_t dim = 0; dim != type.getRank(); ++dim)
      if (type.isDynamicDim(dim) && !llvm::is_contained(fixed, dim))
        return rewriter.notifyMatchFailure(op, "a dynamic dimension may expand");
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// Input:  dynamic_iota with a static result                Output: iota
struct StaticIota : OpRewritePattern<DynamicIotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicIotaOp op, PatternRewriter &rewriter) const override {
    if (!cast<ShapedType>(op.getType()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic result");
    rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), op.getIotaDimensionAttr());
    return success();
  }
};

/// Input:  dynamic_reshape with a static result             Output: reshape
struct StaticReshape : OpRewritePattern<DynamicReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicReshapeOp op, PatternRewriter &rewriter) const override {
    if (!cast<ShapedType>(op.getType()).hasStaticShape() ||
        !cast<ShapedType>(op.getOperand().getType()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic operand or result");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

/// Input:  dynamic_pad with constant amounts                Output: pad
struct StaticPad : OpRewritePattern<DynamicPadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicPadOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> low, high, interior;
    if (failed(matchInts(op.getEdgePaddingLow(), low)) || failed(matchInts(op.getEdgePaddingHigh(), high)) ||
        failed(matchInts(op.getInteriorPadding(), interior)))
      return rewriter.notifyMatchFailure(op, "an amount is no constant");
    rewriter.replaceOpWithNewOp<PadOp>(op, op.getType(), op.getOperand(), op.getPaddingValue(),
                                       rewriter.getDenseI64ArrayAttr(low), rewriter.getDenseI64ArrayAttr(high),
                                       rewriter.getDenseI64ArrayAttr(interior));
    return success();
  }
};

/// Input:  real_dynamic_slice with constant bounds          Output: slice
/// Leaves alone a result type that is less specific than the bounds, and invalid bounds.
struct StaticSlice : OpRewritePattern<RealDynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RealDynamicSliceOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> start, limit, strides;
    if (failed(matchInts(op.getStartIndices(), start)) || failed(matchInts(op.getLimitIndices(), limit)) ||
        failed(matchInts(op.getStrides(), strides)))
      return rewriter.notifyMatchFailure(op, "a bound is no constant");
    auto type = cast<RankedTensorType>(op.getOperand().getType()), result = cast<RankedTensorType>(op.getType());
    for (int64_t i = 0; i != type.getRank(); ++i) {
      if (start[i] < 0 || start[i] > limit[i] || strides[i] <= 0 ||
          (!type.isDynamicDim(i) && limit[i] > type.getDimSize(i)))
        return rewriter.notifyMatchFailure(op, "the bounds do not fit the operand");
      if (result.getDimSize(i) != int64_t(llvm::divideCeil(limit[i] - start[i], strides[i])))
        return rewriter.notifyMatchFailure(op, "the result type does not follow from the bounds");
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, result, op.getOperand(), rewriter.getDenseI64ArrayAttr(start),
                                         rewriter.getDenseI64ArrayAttr(limit), rewriter.getDenseI64ArrayAttr(strides));
    return success();
  }
};

} // namespace

void DynamicBroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StaticBroadcastInDim, IdentityBroadcastInDim>(context);
}
void DynamicIotaOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StaticIota>(context);
}
void DynamicReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StaticReshape>(context);
}
void DynamicPadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StaticPad>(context);
}
void RealDynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StaticSlice>(context);
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  if (type.isDynamicDim(getDimension()))
    return {};
  return DenseIntElementsAttr::get(RankedTensorType::get({}, IntegerType::get(getContext(), 32)),
                                   int32_t(type.getDimSize(getDimension())));
}

/// Setting a static dimension to its own size is the identity.
OpFoldResult SetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  int64_t size;
  if (type == getType() && succeeded(matchInt(getSize(), size)) && size == type.getDimSize(getDimension()))
    return getOperand();
  return {};
}

} // namespace millrace::stablehlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingFold.cpp - Cheap folds of indexing ops ---------------------===//
#include "dialects/stablehlo/DataMovementOps.h"
#include "dialects/stablehlo/IndexingOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace millrace::stablehlo {

OpFoldResult DynamicSliceOp::fold(FoldAdaptor) {
  auto operand = cast<RankedTensorType>(getOperand().getType());
  // A slice of the full size starts at 0 for all indices, because they are clamped.
  return operand == getType() && operand.hasStaticShape() ? OpFoldResult(getOperand()) : nullptr;
}

OpFoldResult DynamicUpdateSliceOp::fold(FoldAdaptor) {
  auto update = cast<RankedTensorType>(getUpdate().getType());
  // An update of the full size starts at 0 for all indices, because they are clamped.
  if (update == getType() && update.hasStaticShape())
    return getUpdate();
  // An empty update changes nothing.
  if (getOperand().getType() == getType() && llvm::is_contained(update.getShape(), 0))
    return getOperand();
  return {};
}

namespace {
/// dynamic_slice with constant indices -> slice
struct DynamicSliceToSlice : OpRewritePattern<DynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicSliceOp op, PatternRewriter &rewriter) const override {
    auto operand = cast<RankedTensorType>(op.getOperand().getType());
    // The sizes are needed for clamping.
    if (!operand.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "operand has dynamic dimensions");
    SmallVector<int64_t> starts, limits;
    for (auto [d, index] : llvm::enumerate(op.getStartIndices())) {
      DenseIntElementsAttr attr;
      if (!matchPattern(index, m_Constant(&attr)))
        return rewriter.notifyMatchFailure(op, "start index is not constant");
      APInt value = attr.getValues<APInt>()[0];
      int64_t size = op.getSliceSizes()[d], last = operand.getDimSize(d) - size;
      bool isUnsigned = attr.getElementType().isUnsignedInteger();
      int64_t start = isUnsigned ? static_cast<int64_t>(std::min<uint64_t>(value.getZExtValue(), last))
                                 : std::clamp<int64_t>(value.getSExtValue(), 0, last);
      starts.push_back(start);
      limits.push_back(start + size);
    }
    SmallVector<int64_t> strides(starts.size(), 1);
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getOperand(), rewriter.getDenseI64ArrayAttr(starts),
                                         rewriter.getDenseI64ArrayAttr(limits),
                                         rewriter.getDenseI64ArrayAttr(strides));
    return success();
  }
};
} // namespace

void DynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<DynamicSliceToSlice>(context);
}

} // namespace millrace::stablehlo

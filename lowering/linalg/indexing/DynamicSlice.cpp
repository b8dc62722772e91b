// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamicSlice.cpp - dynamic_slice, dynamic_update_slice -------------===//
// Input:   stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3]
// Output:  linalg.generic over the result that reads %x at clamp(%i, 0, dim - 2) + d0, clamp(%j, 0, dim - 3) + d1, which emitters fuse;
//          tensor.extract_slice at the same offsets if sizes are dynamic or the elements are not numbers of whole bytes
// Input:   stablehlo.dynamic_update_slice %x, %u, %i, %j
// Output:  tensor.insert_slice %u into %x at the clamped offsets, in place if %x has no later use
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/random/Generate.h"
#include "lowering/linalg/PatternKinds.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns the start indices, clamped so that `sizes` elements fit into `operand`.
SmallVector<OpFoldResult> clampedStarts(LoopBuilder &l, Value operand, ValueRange storageIndices, ValueRange indices,
                                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> starts;
  for (auto [d, storage] : llvm::enumerate(storageIndices)) {
    Value room = l.sub(l.dim(operand, d), l.value(sizes[d]));
    if (getConstantIntValue(OpFoldResult(room)) == 0) {
      starts.push_back(l.b.getIndexAttr(0));
      continue;
    }
    Value index = l.toIndex(l.extract(storage), getElementTypeOrSelf(indices[d].getType()));
    starts.push_back(l.clamp(index, l.index(0), room));
  }
  return starts;
}

struct DynamicSlicePattern : OpConversionPattern<stablehlo::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes, strides(op.getSliceSizes().size(), rewriter.getIndexAttr(1));
    for (int64_t size : op.getSliceSizes())
      sizes.push_back(rewriter.getIndexAttr(size));
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    if (type.hasStaticShape() && cast<RankedTensorType>(adaptor.getOperand().getType()).hasStaticShape() && type.getElementType().isIntOrFloat() &&
        type.getElementTypeBitWidth() % 8 == 0) {
      rewriter.replaceOp(op, readAtStarts(l, op, adaptor, sizes, type));
      return success();
    }
    auto starts = clampedStarts(l, adaptor.getOperand(), adaptor.getStartIndices(), op.getStartIndices(), sizes);
    Value slice = tensor::ExtractSliceOp::create(rewriter, l.loc, adaptor.getOperand(), starts, sizes, strides);
    rewriter.replaceOp(op, l.cast(slice, type));
    return success();
  }

private:
  static Value readAtStarts(LoopBuilder &l, stablehlo::DynamicSliceOp op, OpAdaptor adaptor, ArrayRef<OpFoldResult> sizes, RankedTensorType type) {
    return generateElements(l, type, sizes, [&](LoopBuilder &in, ValueRange position) {
      auto starts = clampedStarts(in, adaptor.getOperand(), adaptor.getStartIndices(), op.getStartIndices(), sizes);
      SmallVector<Value> from;
      for (auto [start, index] : llvm::zip(starts, position))
        from.push_back(getConstantIntValue(start) == 0 ? index : in.add(in.value(start), index));
      return in.extract(adaptor.getOperand(), from);
    });
  }
};

struct DynamicUpdateSlicePattern : OpConversionPattern<stablehlo::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes = l.foldedDims(adaptor.getUpdate());
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    auto starts = clampedStarts(l, adaptor.getOperand(), adaptor.getStartIndices(), op.getStartIndices(), sizes);
    Value updated = tensor::InsertSliceOp::create(rewriter, l.loc, adaptor.getUpdate(), adaptor.getOperand(), starts, sizes,
                                                  strides);
    rewriter.replaceOp(op, l.cast(updated, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void populateDynamicSlicePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DynamicSlicePattern, DynamicUpdateSlicePattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering

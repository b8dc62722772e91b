// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduce.cpp - stablehlo.reduce to linalg ----------------------------===//
// Input:   %r = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : tensor<4x8xbf16> -> tensor<4xbf16>
// Output:  %f = linalg.fill(%i) : tensor<4xf32>; %a = linalg.generic, iterators [parallel, reduction], acc + ext(x) in f32;
//          %r = linalg.generic trunc(%a)
// The iterators are in the order of the operand's dimensions, so that it is read sequentially. Any reducer and any number of operands are supported.
// Leaves alone reducers that are not scalar computations (emitScalarRegion fails).
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/reduction/Accumulate.h"
#include "lowering/linalg/PatternKinds.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

struct ReducePattern : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Region &region = op.getBody();
    size_t count = op.getInputs().size();
    Reducer reducer = classifyReducer(region);
    int64_t rank = cast<RankedTensorType>(adaptor.getInputs()[0].getType()).getRank();

    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    for (int64_t d : op.getDimensions())
      iterators[d] = utils::IteratorType::reduction;
    SmallVector<AffineExpr> kept;
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < rank; ++d)
      if (iterators[d] == utils::IteratorType::parallel) {
        kept.push_back(rewriter.getAffineDimExpr(d));
        sizes.push_back(l.foldedDim(adaptor.getInputs()[0], d));
      }
    SmallVector<AffineMap> maps(count, rewriter.getMultiDimIdentityMap(rank));
    maps.append(count, AffineMap::get(rank, 0, kept, rewriter.getContext()));

    SmallVector<Type> inputElements, regionElements, accElements;
    SmallVector<Value> inits;
    for (size_t i = 0; i < count; ++i) {
      inputElements.push_back(getElementTypeOrSelf(op.getInputs()[i].getType()));
      regionElements.push_back(getElementTypeOrSelf(region.getArgument(i).getType()));
      accElements.push_back(accumulatorType(reducer, regionElements[i]));
      Type initElement = getElementTypeOrSelf(op.getInitValues()[i].getType());
      Value init = toCompute(rewriter, op.getLoc(), l.extract(adaptor.getInitValues()[i]), initElement);
      init = convertElement(l, init, initElement, accElements[i]);
      SmallVector<int64_t> shape;
      for (int64_t d = 0; d < rank; ++d)
        if (iterators[d] == utils::IteratorType::parallel)
          shape.push_back(cast<RankedTensorType>(adaptor.getInputs()[0].getType()).getDimSize(d));
      Value empty = l.empty(RankedTensorType::get(shape, storageElementType(accElements[i])), sizes);
      inits.push_back(l.fill(toStorage(rewriter, op.getLoc(), init, accElements[i]), empty));
    }

    Accumulation accumulation{reducer, region, inputElements, accElements, regionElements};
    auto results = accumulation.emit(l, adaptor.getInputs(), inits, maps, iterators);
    if (failed(results))
      return failure();
    for (auto [result, type] : llvm::zip(*results, op->getResultTypes()))
      result = l.cast(result, getTypeConverter()->convertType(type));
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void populateReducePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReducePattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering

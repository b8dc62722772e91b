// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Convolution.cpp - convolution, dynamic_conv to linalg --------------===//
// Input:   stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], ..}
// Output:  the dilated and padded input (fill + insert_slice; the input itself without padding); one linalg.generic with
//          iterators [n, (g,) spatial.., o | window.., i], input map (n, s * stride + w * dilation, .., i): the form the
//          contraction emitter recognises; then expand/collapse_shape for the groups and the rounding of narrow floats
// A reversed window reads the input backwards (size - 1 - w); the kernel is never copied.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/contraction/Contractions.h"
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/reduction/Windows.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Splits dimension `d` of `tensor` into two, the first of size `outer`.
Value splitDim(LoopBuilder &l, Value tensor, int64_t d, int64_t outer) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes;
  int64_t next = 0;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    OpFoldResult size = l.foldedDim(tensor, i);
    if (i != d) {
      groups.push_back({next++});
      shape.push_back(type.getDimSize(i));
      sizes.push_back(size);
      continue;
    }
    groups.push_back({next, next + 1});
    next += 2;
    shape.push_back(outer);
    sizes.push_back(l.b.getIndexAttr(outer));
    shape.push_back(type.isDynamicDim(i) ? ShapedType::kDynamic : type.getDimSize(i) / outer);
    sizes.push_back(type.isDynamicDim(i)
                        ? OpFoldResult(arith::DivUIOp::create(l.b, l.loc, l.value(size), l.index(outer)).getResult())
                        : OpFoldResult(l.b.getIndexAttr(type.getDimSize(i) / outer)));
  }
  return tensor::ExpandShapeOp::create(l.b, l.loc, RankedTensorType::get(shape, type.getElementType()), tensor, groups, sizes);
}

/// Merges dimensions `d` and `d + 1` of `tensor`.
Value mergeDims(LoopBuilder &l, Value tensor, int64_t d) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); i < rank; ++i)
    if (i == d + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  return tensor::CollapseShapeOp::create(l.b, l.loc, tensor, groups);
}

template <typename Op> struct ConvolutionLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    Value lhs = adaptor.getLhs(), kernel = adaptor.getRhs();
    Type lhsElement = getElementTypeOrSelf(op.getLhs().getType()), rhsElement = getElementTypeOrSelf(op.getRhs().getType());
    Type resultElement = getElementTypeOrSelf(op.getType());
    ArrayRef<int64_t> inputSpatial = numbers.getInputSpatialDimensions();
    ArrayRef<int64_t> kernelSpatial = numbers.getKernelSpatialDimensions();
    ArrayRef<int64_t> outputSpatial = numbers.getOutputSpatialDimensions();
    int64_t spatial = inputSpatial.size(), rank = spatial + 2;
    SmallVector<int64_t> strides = orOnes(op.getWindowStrides(), spatial), lhsDilation = orOnes(op.getLhsDilation(), spatial);
    SmallVector<int64_t> rhsDilation = orOnes(op.getRhsDilation(), spatial);
    SmallVector<bool> reversed(spatial, false);
    if (auto reversal = op.getWindowReversal())
      llvm::copy(*reversal, reversed.begin());
    int64_t featureGroups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();

    SmallVector<OpFoldResult> low(rank, rewriter.getIndexAttr(0)), high = low;
    SmallVector<int64_t> dilation(rank, 1);
    SmallVector<std::pair<OpFoldResult, OpFoldResult>> padding = spatialPadding(l, op, adaptor, spatial);
    for (int64_t d = 0; d < spatial; ++d) {
      std::tie(low[inputSpatial[d]], high[inputSpatial[d]]) = padding[d];
      dilation[inputSpatial[d]] = lhsDilation[d];
    }
    Value input = dilateAndPad(l, lhs, l.zero(storageElementType(lhsElement)), low, high, dilation);

    // Groups become a separate dimension: of the input's features or batch, and of the kernel's output features.
    int64_t groups = featureGroups * batchGroups; // At most one of them is not 1.
    int64_t inputGroupDim = featureGroups > 1 ? numbers.getInputFeatureDimension() : numbers.getInputBatchDimension();
    int64_t kernelGroupDim = numbers.getKernelOutputFeatureDimension();
    Value groupedInput = input, groupedKernel = kernel;
    if (groups > 1) {
      groupedInput = splitDim(l, input, inputGroupDim, groups);
      groupedKernel = splitDim(l, kernel, kernelGroupDim, groups);
    }

    // Loops: n, (g,) spatial, o | window, i.
    MLIRContext *context = rewriter.getContext();
    int64_t loop = 0, n = loop++, g = groups > 1 ? loop++ : -1, firstSpatial = loop;
    loop += spatial;
    int64_t o = loop++, firstWindow = loop;
    loop += spatial;
    int64_t i = loop++;
    auto dim = [&](int64_t d) { return getAffineDimExpr(d, context); };
    SmallVector<AffineExpr> inputExprs(rank), kernelExprs(rank), outputExprs(rank);
    SmallVector<OpFoldResult> outputSizes(rank);
    inputExprs[numbers.getInputBatchDimension()] = dim(n);
    inputExprs[numbers.getInputFeatureDimension()] = dim(i);
    kernelExprs[numbers.getKernelInputFeatureDimension()] = dim(i);
    kernelExprs[kernelGroupDim] = dim(o);
    outputExprs[numbers.getOutputBatchDimension()] = dim(n);
    outputExprs[numbers.getOutputFeatureDimension()] = dim(o);
    OpFoldResult batch = l.foldedDim(input, numbers.getInputBatchDimension());
    OpFoldResult features = l.foldedDim(kernel, kernelGroupDim);
    if (batchGroups > 1)
      batch = l.foldedDim(groupedInput, inputGroupDim + 1);
    if (groups > 1)
      features = l.foldedDim(groupedKernel, kernelGroupDim + 1);
    outputSizes[numbers.getOutputBatchDimension()] = batch;
    outputSizes[numbers.getOutputFeatureDimension()] = features;
    for (int64_t d = 0; d < spatial; ++d) {
      AffineExpr window = dim(firstWindow + d);
      OpFoldResult windowSize = l.foldedDim(kernel, kernelSpatial[d]);
      kernelExprs[kernelSpatial[d]] = window;
      if (reversed[d]) {
        auto staticSize = getConstantIntValue(windowSize);
        if (!staticSize)
          return rewriter.notifyMatchFailure(op, "a reversed window needs static kernel extents");
        window = (*staticSize - 1) - window;
      }
      inputExprs[inputSpatial[d]] = dim(firstSpatial + d) * strides[d] + window * rhsDilation[d];
      outputExprs[outputSpatial[d]] = dim(firstSpatial + d);
      outputSizes[outputSpatial[d]] =
          windowCount(l, l.foldedDim(input, inputSpatial[d]), windowSize, rhsDilation[d], strides[d]);
    }
    int64_t outputGroupDim = numbers.getOutputFeatureDimension();
    if (groups > 1) {
      inputExprs.insert(inputExprs.begin() + inputGroupDim, dim(g));
      kernelExprs.insert(kernelExprs.begin() + kernelGroupDim, dim(g));
      outputExprs.insert(outputExprs.begin() + outputGroupDim, dim(g));
      outputSizes.insert(outputSizes.begin() + outputGroupDim, rewriter.getIndexAttr(groups));
    }

    Contraction c;
    c.operands = {groupedInput, groupedKernel};
    c.elements = {lhsElement, rhsElement};
    c.roundTo = {Type(), Type()};
    c.maps = {AffineMap::get(loop, 0, inputExprs, context), AffineMap::get(loop, 0, kernelExprs, context),
              AffineMap::get(loop, 0, outputExprs, context)};
    c.iterators.assign(firstWindow, utils::IteratorType::parallel);
    c.iterators.append(loop - firstWindow, utils::IteratorType::reduction);
    c.sizes = outputSizes;
    c.accumulator = contractionAccumulator(lhsElement, rhsElement, resultElement);
    Value result = emitContraction(l, c);
    if (groups > 1)
      result = mergeDims(l, result, outputGroupDim);
    result = convertTensor(l, result, c.accumulator, resultElement);
    rewriter.replaceOp(op, l.cast(result, this->getTypeConverter()->convertType(op.getType())));
    return success();
  }

private:
  static SmallVector<std::pair<OpFoldResult, OpFoldResult>>
  spatialPadding(LoopBuilder &l, stablehlo::ConvolutionOp op, stablehlo::ConvolutionOp::Adaptor, int64_t spatial) {
    SmallVector<std::pair<OpFoldResult, OpFoldResult>> result;
    for (auto [low, high] : paddingPairs(op.getPadding(), spatial))
      result.push_back({l.b.getIndexAttr(low), l.b.getIndexAttr(high)});
    return result;
  }

  static SmallVector<std::pair<OpFoldResult, OpFoldResult>>
  spatialPadding(LoopBuilder &l, stablehlo::DynamicConvOp op, stablehlo::DynamicConvOp::Adaptor adaptor, int64_t spatial) {
    SmallVector<std::pair<OpFoldResult, OpFoldResult>> result;
    Type element = getElementTypeOrSelf(op.getPadding().getType());
    auto amount = [&](int64_t d, int64_t side) -> OpFoldResult {
      return l.toIndex(l.extract(adaptor.getPadding(), ValueRange{l.index(d), l.index(side)}), element);
    };
    for (int64_t d = 0; d < spatial; ++d) {
      OpFoldResult low = amount(d, 0), high = amount(d, 1);
      result.push_back({low, high});
    }
    return result;
  }
};

} // namespace

void populateConvolutionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvolutionLowering<stablehlo::ConvolutionOp>, ConvolutionLowering<stablehlo::DynamicConvOp>>(
      converter, patterns.getContext());
}

} // namespace millrace::lowering

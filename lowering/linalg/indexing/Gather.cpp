// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gather.cpp - gather, dynamic_gather, torch_index_select to linalg --===//
// Input:   "stablehlo.gather"(%x, %indices) <{dimension_numbers, slice_sizes}>
// Output:  linalg.generic over the result; its body reads the start indices of its batch position, clamps them so that the
//          slice fits, adds the offset position and reads %x there: result(b, o) = x(clamp(indices(b)) + o)
// Leaves alone nothing: every dimension number, index type and dynamic extent is handled.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/random/Generate.h"
#include "lowering/linalg/PatternKinds.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace millrace::lowering {

Value generateElements(LoopBuilder &l, RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                       llvm::function_ref<Value(LoopBuilder &, ValueRange)> at) {
  int64_t rank = type.getRank();
  Value init = l.empty(type, sizes);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange) {
    LoopBuilder in(b, loc);
    SmallVector<Value> position;
    for (int64_t d = 0; d < rank; ++d)
      position.push_back(linalg::IndexOp::create(b, loc, d));
    linalg::YieldOp::create(b, loc, at(in, position));
  };
  return linalg::GenericOp::create(l.b, l.loc, TypeRange{type}, ValueRange{}, ValueRange{init},
                                   l.b.getMultiDimIdentityMap(rank), iterators, body)
      .getResult(0);
}

namespace {

/// Clamps an index to [0, room]. Indices of 32 bits are clamped in 32 bits, because their vectors are half as long as those of `index`.
Value clampedStart(LoopBuilder &l, Value stored, Type element, Value room) {
  auto most = getConstantIntValue(OpFoldResult(room));
  if (!stored.getType().isInteger(32) || !most || *most > std::numeric_limits<int32_t>::max())
    return l.clamp(l.toIndex(stored, element), l.index(0), room);
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(l.b, l.loc, stored.getType(), value); };
  if (isUnsignedElement(element)) // the clamped value is not negative, so that sign extension is correct
    return arith::IndexCastOp::create(l.b, l.loc, l.b.getIndexType(), arith::MinUIOp::create(l.b, l.loc, stored, number(*most)));
  return l.toIndex(l.clamp(stored, number(0), number(*most)), element);
}

/// Lowers a gather; `sizes[d]` is the size of the slice in dimension d of the operand.
Value lowerGather(LoopBuilder &l, stablehlo::GatherDimensionNumbersAttr numbers, Value operand, Value indices,
                  Type indexElement, ArrayRef<OpFoldResult> sizes, RankedTensorType resultType) {
  int64_t operandRank = cast<RankedTensorType>(operand.getType()).getRank(), resultRank = resultType.getRank();
  int64_t indicesRank = cast<RankedTensorType>(indices.getType()).getRank(), vectorDim = numbers.getIndexVectorDim();
  ArrayRef<int64_t> offsetDims = numbers.getOffsetDims(), startIndexMap = numbers.getStartIndexMap();
  ArrayRef<int64_t> batching = numbers.getOperandBatchingDims(), indicesBatching = numbers.getStartIndicesBatchingDims();

  SmallVector<int64_t> batchDims, offsetOperandDims;
  for (int64_t d = 0; d < resultRank; ++d)
    if (!llvm::is_contained(offsetDims, d))
      batchDims.push_back(d);
  for (int64_t d = 0; d < operandRank; ++d)
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), d) && !llvm::is_contained(batching, d))
      offsetOperandDims.push_back(d);

  SmallVector<OpFoldResult> resultSizes(resultRank);
  for (auto [position, d] : llvm::enumerate(batchDims)) {
    int64_t from = position;
    resultSizes[d] = l.foldedDim(indices, from < vectorDim ? from : from + 1);
  }
  for (auto [resultDim, operandDim] : llvm::zip(offsetDims, offsetOperandDims))
    resultSizes[resultDim] = sizes[operandDim];

  SmallVector<Value> rooms;
  for (int64_t d : startIndexMap)
    rooms.push_back(l.sub(l.dim(operand, d), l.value(sizes[d])));

  return generateElements(l, resultType, resultSizes, [&](LoopBuilder &in, ValueRange position) {
    SmallVector<Value> batch;
    for (int64_t d : batchDims)
      batch.push_back(position[d]);
    SmallVector<Value> from(operandRank);
    for (auto [k, d] : llvm::enumerate(startIndexMap)) {
      SmallVector<Value> where = batch;
      if (vectorDim < indicesRank)
        where.insert(where.begin() + vectorDim, in.index(k));
      from[d] = clampedStart(in, in.extract(indices, where), indexElement, rooms[k]);
    }
    for (auto [operandDim, indicesDim] : llvm::zip(batching, indicesBatching))
      from[operandDim] = batch[indicesDim < vectorDim ? indicesDim : indicesDim - 1];
    for (auto [resultDim, operandDim] : llvm::zip(offsetDims, offsetOperandDims))
      from[operandDim] = from[operandDim] ? in.add(from[operandDim], position[resultDim]) : position[resultDim];
    for (Value &index : from)
      if (!index)
        index = in.index(0);
    return in.extract(operand, from);
  });
}

struct GatherPattern : OpConversionPattern<stablehlo::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : op.getSliceSizes())
      sizes.push_back(rewriter.getIndexAttr(size));
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOp(op, lowerGather(l, op.getDimensionNumbers(), adaptor.getOperand(), adaptor.getStartIndices(),
                                       getElementTypeOrSelf(op.getStartIndices().getType()), sizes, type));
    return success();
  }
};

struct DynamicGatherPattern : OpConversionPattern<stablehlo::DynamicGatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicGatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes;
    Type sizeElement = getElementTypeOrSelf(op.getSliceSizes().getType());
    for (int64_t d = 0, rank = cast<RankedTensorType>(adaptor.getOperand().getType()).getRank(); d < rank; ++d)
      sizes.push_back(l.toIndex(l.extract(adaptor.getSliceSizes(), l.index(d)), sizeElement));
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOp(op, lowerGather(l, op.getDimensionNumbers(), adaptor.getOperand(), adaptor.getStartIndices(),
                                       getElementTypeOrSelf(op.getStartIndices().getType()), sizes, type));
    return success();
  }
};

struct TorchIndexSelectPattern : OpConversionPattern<stablehlo::TorchIndexSelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TorchIndexSelectOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Value operand = adaptor.getOperand(), indices = adaptor.getIndex();
    Type indexElement = getElementTypeOrSelf(op.getIndex().getType());
    int64_t operandRank = cast<RankedTensorType>(operand.getType()).getRank();
    int64_t indicesRank = cast<RankedTensorType>(indices.getType()).getRank();
    int64_t dim = op.getDim(), batch = op.getBatchDims();
    if (dim < 0)
      dim += operandRank;
    if (batch < 0)
      batch += indicesRank;
    // The result's dimensions are operand[:dim] x index[batch:] x operand[dim + 1:].
    int64_t selected = indicesRank - batch;
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < dim; ++d)
      sizes.push_back(l.foldedDim(operand, d));
    for (int64_t d = batch; d < indicesRank; ++d)
      sizes.push_back(l.foldedDim(indices, d));
    for (int64_t d = dim + 1; d < operandRank; ++d)
      sizes.push_back(l.foldedDim(operand, d));
    Value last = l.sub(l.dim(operand, dim), l.index(1));
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOp(op, generateElements(l, type, sizes, [&](LoopBuilder &in, ValueRange position) {
      SmallVector<Value> where(position.begin(), position.begin() + batch);
      where.append(position.begin() + dim, position.begin() + dim + selected);
      Value index = in.toIndex(in.extract(indices, where), indexElement);
      SmallVector<Value> from(position.begin(), position.begin() + dim);
      from.push_back(in.clamp(index, in.index(0), last));
      from.append(position.begin() + dim + selected, position.end());
      return in.extract(operand, from);
    }));
    return success();
  }
};

} // namespace

void populateGatherPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<GatherPattern, DynamicGatherPattern, TorchIndexSelectPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering

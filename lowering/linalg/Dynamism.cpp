// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dynamism.cpp - Operations with dynamic shapes ----------------------===//
// Input:   %r = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi64>) -> tensor<?x4xf32>
// Output:  the same linalg and tensor operations as for static shapes, with sizes read from the shape operand
// Leaves alone dynamic_conv and dynamic_gather, which belong to contractions and indexing.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/LinalgBuilders.h"
#include "lowering/linalg/Patterns.h"
#include "lowering/linalg/storage/TensorMoves.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

using stablehlo::DynamicBroadcastInDimOp;
using stablehlo::DynamicIotaOp;
using stablehlo::DynamicPadOp;
using stablehlo::DynamicReshapeOp;
using stablehlo::GetDimensionSizeOp;
using stablehlo::RealDynamicSliceOp;
using stablehlo::SetDimensionSizeOp;

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  RankedTensorType resultType(Op op) const {
    return this->getTypeConverter()->template convertType<RankedTensorType>(op->getResult(0).getType());
  }
};

SmallVector<OpFoldResult> shapeElements(OpBuilder &builder, Location loc, Value shape) {
  SmallVector<OpFoldResult> elements;
  for (int64_t i : llvm::seq(cast<RankedTensorType>(shape.getType()).getDimSize(0)))
    elements.push_back(shapeElement(builder, loc, shape, i));
  return elements;
}

struct BroadcastPattern : Pattern<DynamicBroadcastInDimOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(DynamicBroadcastInDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    auto operandType = cast<RankedTensorType>(operand.getType());
    ArrayRef<int64_t> targets = op.getBroadcastDimensions();
    auto listed = [](std::optional<ArrayRef<int64_t>> dims, int64_t dim) { return dims && llvm::is_contained(*dims, dim); };
    SmallVector<AffineExpr> exprs;
    bool isKnown = true;
    for (auto [dim, target] : llvm::enumerate(targets)) {
      int64_t extent = operandType.getDimSize(dim);
      bool expands = listed(op.getKnownExpandingDimensions(), dim) || (extent == 1 && type.getDimSize(target) != 1);
      bool keeps = listed(op.getKnownNonexpandingDimensions(), dim) || (!ShapedType::isDynamic(extent) && extent != 1) ||
                   type.getDimSize(target) == 1;
      isKnown &= expands || keeps;
      exprs.push_back(expands ? rewriter.getAffineConstantExpr(0) : rewriter.getAffineDimExpr(target));
    }
    SmallVector<OpFoldResult> sizes = sizesFromShape(rewriter, loc, type, adaptor.getOutputDimensions());
    if (isKnown) {
      AffineMap map = AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
      rewriter.replaceOp(op, mapElements(rewriter, loc, type, sizes, operand, map,
                                         [](OpBuilder &, Location, ValueRange args) { return args[0]; }));
      return success();
    }
    // Whether a dimension is broadcast is known at run time: the index is 0 if the operand has one element there.
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0), one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    SmallVector<Value> expands;
    for (OpFoldResult size : dimSizes(rewriter, loc, operand))
      expands.push_back(arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                              getValueOrCreateConstantIndexOp(rewriter, loc, size), one));
    rewriter.replaceOp(op, mapElements(rewriter, loc, type, sizes, {}, {}, [&](OpBuilder &builder, Location bodyLoc, ValueRange) {
      SmallVector<Value> indices;
      for (auto [dim, target] : llvm::enumerate(targets)) {
        Value index = linalg::IndexOp::create(builder, bodyLoc, target);
        indices.push_back(arith::SelectOp::create(builder, bodyLoc, expands[dim], zero, index));
      }
      return Value(tensor::ExtractOp::create(builder, bodyLoc, operand, indices));
    }));
    return success();
  }
};

struct IotaPattern : Pattern<DynamicIotaOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(DynamicIotaOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    SmallVector<OpFoldResult> sizes = sizesFromShape(rewriter, op.getLoc(), type, adaptor.getOutputShape());
    rewriter.replaceOp(op, iotaTensor(rewriter, op.getLoc(), type, sizes, op.getIotaDimension(),
                                      getElementTypeOrSelf(op.getType())));
    return success();
  }
};

struct PadPattern : Pattern<DynamicPadOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(DynamicPadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rewriter.replaceOp(op, padTensor(rewriter, loc, resultType(op), adaptor.getOperand(), adaptor.getPaddingValue(),
                                     shapeElements(rewriter, loc, adaptor.getEdgePaddingLow()),
                                     shapeElements(rewriter, loc, adaptor.getEdgePaddingHigh()),
                                     shapeElements(rewriter, loc, adaptor.getInteriorPadding())));
    return success();
  }
};

struct ReshapePattern : Pattern<DynamicReshapeOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(DynamicReshapeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, reshapeTensor(rewriter, op.getLoc(), adaptor.getOperand(), resultType(op),
                                         adaptor.getOutputShape()));
    return success();
  }
};

struct GetSizePattern : Pattern<GetDimensionSizeOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(GetDimensionSizeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Location loc = op.getLoc();
    Value size = getValueOrCreateConstantIndexOp(rewriter, loc,
                                                 dimSize(rewriter, loc, adaptor.getOperand(), op.getDimension()));
    Value element = arith::IndexCastOp::create(rewriter, loc, type.getElementType(), size);
    rewriter.replaceOp(op, Value(tensor::FromElementsOp::create(rewriter, loc, type, element)));
    return success();
  }
};

struct SetSizePattern : Pattern<SetDimensionSizeOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(SetDimensionSizeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Location loc = op.getLoc();
    IndexMath math(rewriter, loc);
    int64_t dim = op.getDimension();
    SmallVector<OpFoldResult> sizes = dimSizes(rewriter, loc, adaptor.getOperand());
    // A size that is set to the full static size does not change the tensor.
    if (!type.isDynamicDim(dim)) {
      rewriter.replaceOp(op, castTensor(rewriter, loc, adaptor.getOperand(), type));
      return success();
    }
    Value size = tensor::ExtractOp::create(rewriter, loc, adaptor.getSize(), ValueRange{});
    Value wanted = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), size);
    sizes[dim] = math.max(math.min(wanted, sizes[dim]), math.attr(0));
    SmallVector<OpFoldResult> zeros(sizes.size(), math.attr(0)), ones(sizes.size(), math.attr(1));
    Value slice = tensor::ExtractSliceOp::create(rewriter, loc, adaptor.getOperand(), zeros, sizes, ones);
    rewriter.replaceOp(op, castTensor(rewriter, loc, slice, type));
    return success();
  }
};

struct SlicePattern : Pattern<RealDynamicSliceOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(RealDynamicSliceOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Location loc = op.getLoc();
    IndexMath math(rewriter, loc);
    SmallVector<OpFoldResult> starts = shapeElements(rewriter, loc, adaptor.getStartIndices());
    SmallVector<OpFoldResult> limits = shapeElements(rewriter, loc, adaptor.getLimitIndices());
    SmallVector<OpFoldResult> strides = shapeElements(rewriter, loc, adaptor.getStrides());
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      sizes.push_back(ShapedType::isDynamic(extent) ? math.ceilDiv(math.sub(limits[dim], starts[dim]), strides[dim])
                                                    : math.attr(extent));
    Value slice = tensor::ExtractSliceOp::create(rewriter, loc, adaptor.getOperand(), starts, sizes, strides);
    rewriter.replaceOp(op, castTensor(rewriter, loc, slice, type));
    return success();
  }
};

} // namespace

void populateDynamismPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BroadcastPattern, GetSizePattern, IotaPattern, PadPattern, ReshapePattern, SetSizePattern, SlicePattern>(
      converter, patterns.getContext());
}

} // namespace millrace::lowering

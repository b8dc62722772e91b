// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovement.cpp - Operations that place elements ------------------===//
// Input:   %r = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// Output:  transpose, broadcast, reverse and iota, which move elements within rows, are a linalg.generic whose maps are the index function, so that
//         they
//          fuse; slice, pad and concatenate, which select or join blocks, and reshape are tensor views
// Leaves alone operations with dynamic shapes, see Dynamism.cpp.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/LinalgBuilders.h"
#include "lowering/linalg/Patterns.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"
#include "lowering/linalg/scalar/ScalarOps.h"
#include "lowering/linalg/storage/StorageConstants.h"
#include "lowering/linalg/storage/TensorMoves.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

using stablehlo::BroadcastInDimOp;
using stablehlo::BroadcastOp;
using stablehlo::ConcatenateOp;
using stablehlo::ConstantOp;
using stablehlo::IotaOp;
using stablehlo::PadOp;
using stablehlo::ReshapeOp;
using stablehlo::ReverseOp;
using stablehlo::SliceOp;
using stablehlo::TransposeOp;

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  RankedTensorType resultType(Op op) const {
    return this->getTypeConverter()->template convertType<RankedTensorType>(op->getResult(0).getType());
  }
};

SmallVector<OpFoldResult> staticSizes(OpBuilder &builder, RankedTensorType type) {
  return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
}

struct ConstantPattern : Pattern<ConstantOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Type element = getElementTypeOrSelf(op.getType());
    Location loc = op.getLoc();
    if (type.getNumElements() == 0) {
      rewriter.replaceOp(op, emptyTensor(rewriter, loc, type, staticSizes(rewriter, type)));
      return success();
    }
    if (isa<ComplexType>(element))
      return rewriteComplex(op, type, rewriter);
    DenseElementsAttr value = storageConstant(op.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(op, "value is not dense");
    // A splat is computed instead of stored, because fusion moves the scalar into its users.
    if (value.isSplat() && type.getRank() > 0) {
      Value scalar = arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(value.getSplatValue<Attribute>()));
      rewriter.replaceOp(op, splatTensor(rewriter, loc, type, staticSizes(rewriter, type), scalar));
      return success();
    }
    rewriter.replaceOp(op, Value(arith::ConstantOp::create(rewriter, loc, value.reshape(type))));
    return success();
  }

private:
  /// Lowers constants of complex element types, which must not reach LLVM: stores the parts, or computes the splat.
  static LogicalResult rewriteComplex(ConstantOp op, RankedTensorType type, ConversionPatternRewriter &rewriter) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense)
      return rewriter.notifyMatchFailure(op, "value is not dense");
    Location loc = op.getLoc();
    auto complexType = cast<ComplexType>(type.getElementType());
    if (dense.isSplat()) {
      Value scalar = emitConstant(rewriter, loc, dense, complexType);
      if (type.getRank() == 0)
        rewriter.replaceOp(op, Value(tensor::FromElementsOp::create(rewriter, loc, type, scalar)));
      else
        rewriter.replaceOp(op, splatTensor(rewriter, loc, type, staticSizes(rewriter, type), scalar));
      return success();
    }
    int64_t rank = type.getRank();
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(2);
    auto partsType = RankedTensorType::get(shape, complexType.getElementType());
    Value parts = arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::getFromRawBuffer(partsType, dense.getRawData()));
    AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<AffineMap> maps = {identity.insertResult(rewriter.getAffineConstantExpr(0), rank),
                                   identity.insertResult(rewriter.getAffineConstantExpr(1), rank)};
    rewriter.replaceOp(op, mapElements(rewriter, loc, type, staticSizes(rewriter, type), {parts, parts}, maps,
                                       [](OpBuilder &builder, Location bodyLoc, ValueRange args) {
                                         return ScalarBuilder(builder, bodyLoc).complex(args[0], args[1]);
                                       }));
    return success();
  }
};

struct IotaPattern : Pattern<IotaOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(IotaOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    rewriter.replaceOp(op, iotaTensor(rewriter, op.getLoc(), type, staticSizes(rewriter, type), op.getIotaDimension(),
                                      getElementTypeOrSelf(op.getType())));
    return success();
  }
};

struct BroadcastInDimPattern : Pattern<BroadcastInDimOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    auto operandType = cast<RankedTensorType>(adaptor.getOperand().getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic result");
    SmallVector<AffineExpr> exprs;
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions())) {
      bool expands = operandType.getDimSize(dim) == 1 && type.getDimSize(target) != 1;
      exprs.push_back(expands ? rewriter.getAffineConstantExpr(0) : rewriter.getAffineDimExpr(target));
    }
    AffineMap map = AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
    rewriter.replaceOp(op, mapElements(rewriter, op.getLoc(), type, staticSizes(rewriter, type), adaptor.getOperand(), map,
                                       [](OpBuilder &, Location, ValueRange args) { return args[0]; }));
    return success();
  }
};

/// Lowers broadcast, which adds dimensions before those of the operand.
struct BroadcastPattern : Pattern<BroadcastOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(BroadcastOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    int64_t added = op.getBroadcastSizes().size();
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), op.getBroadcastSizes());
    llvm::append_range(sizes, dimSizes(rewriter, op.getLoc(), adaptor.getOperand()));
    AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank()).getMinorSubMap(type.getRank() - added);
    rewriter.replaceOp(op, mapElements(rewriter, op.getLoc(), type, sizes, adaptor.getOperand(), map,
                                       [](OpBuilder &, Location, ValueRange args) { return args[0]; }));
    return success();
  }
};

struct TransposePattern : Pattern<TransposeOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(TransposeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> exprs(type.getRank());
    for (auto [dim, source] : llvm::enumerate(op.getPermutation())) {
      sizes.push_back(dimSize(rewriter, op.getLoc(), adaptor.getOperand(), source));
      exprs[source] = rewriter.getAffineDimExpr(dim);
    }
    AffineMap map = AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
    rewriter.replaceOp(op, mapElements(rewriter, op.getLoc(), type, sizes, adaptor.getOperand(), map,
                                       [](OpBuilder &, Location, ValueRange args) { return args[0]; }));
    return success();
  }
};

struct ReversePattern : Pattern<ReverseOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(ReverseOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    SmallVector<OpFoldResult> sizes = dimSizes(rewriter, loc, operand);
    bool isStatic = llvm::all_of(op.getDimensions(), [&](int64_t dim) { return !type.isDynamicDim(dim); });
    if (isStatic) {
      SmallVector<AffineExpr> exprs;
      for (int64_t dim : llvm::seq(type.getRank())) {
        AffineExpr expr = rewriter.getAffineDimExpr(dim);
        bool reversed = llvm::is_contained(op.getDimensions(), dim);
        exprs.push_back(reversed ? type.getDimSize(dim) - 1 - expr : expr);
      }
      AffineMap map = AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
      rewriter.replaceOp(op, mapElements(rewriter, loc, type, sizes, operand, map,
                                         [](OpBuilder &, Location, ValueRange args) { return args[0]; }));
      return success();
    }
    // Maps cannot contain dynamic sizes, so that the operand is read at computed indices.
    rewriter.replaceOp(op, mapElements(rewriter, loc, type, sizes, {}, {}, [&](OpBuilder &builder, Location bodyLoc, ValueRange) {
      SmallVector<Value> indices;
      for (int64_t dim : llvm::seq(type.getRank())) {
        Value index = linalg::IndexOp::create(builder, bodyLoc, dim);
        if (llvm::is_contained(op.getDimensions(), dim)) {
          Value size = getValueOrCreateConstantIndexOp(builder, bodyLoc, sizes[dim]);
          Value one = arith::ConstantIndexOp::create(builder, bodyLoc, 1);
          Value last = arith::SubIOp::create(builder, bodyLoc, size, one);
          index = arith::SubIOp::create(builder, bodyLoc, last, index);
        }
        indices.push_back(index);
      }
      return Value(tensor::ExtractOp::create(builder, bodyLoc, operand, indices));
    }));
    return success();
  }
};

struct ReshapePattern : Pattern<ReshapeOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(ReshapeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, reshapeTensor(rewriter, op.getLoc(), adaptor.getOperand(), resultType(op)));
    return success();
  }
};

struct SlicePattern : Pattern<SliceOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(SliceOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    MLIRContext *context = rewriter.getContext();
    rewriter.replaceOp(op, Value(tensor::ExtractSliceOp::create(
                               rewriter, op.getLoc(), type, adaptor.getOperand(),
                               getAsIndexOpFoldResult(context, op.getStartIndices()), staticSizes(rewriter, type),
                               getAsIndexOpFoldResult(context, op.getStrides()))));
    return success();
  }
};

struct PadPattern : Pattern<PadOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(PadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    MLIRContext *context = rewriter.getContext();
    if (Value joined = joinPieces(op, adaptor, type, rewriter)) {
      rewriter.replaceOp(op, joined);
      return success();
    }
    rewriter.replaceOp(op, padTensor(rewriter, op.getLoc(), type, adaptor.getOperand(), adaptor.getPaddingValue(),
                                     getAsIndexOpFoldResult(context, op.getEdgePaddingLow()),
                                     getAsIndexOpFoldResult(context, op.getEdgePaddingHigh()),
                                     getAsIndexOpFoldResult(context, op.getInteriorPadding())));
    return success();
  }

private:
  /// Lowers padding between elements to disjoint pieces, the operand and the padding around it, so that no element is written twice. Returns null if
  /// there is no such padding, if an edge is negative, or if there would be many pieces.
  static Value joinPieces(PadOp op, OpAdaptor adaptor, RankedTensorType type, ConversionPatternRewriter &rewriter) {
    // Padding between elements of more pieces is a loop with a test per element. Unit: pieces. Source: judgement, not measured alone; commit 1c52e2a
    // has the figures of the whole change.
    constexpr int64_t kMaxPieces = 12;
    auto from = cast<RankedTensorType>(adaptor.getOperand().getType());
    int64_t rank = type.getRank(), pieces = 1;
    if (!from.hasStaticShape() || !type.hasStaticShape() || from.getNumElements() == 0 || isa<ComplexType>(type.getElementType()))
      return {};
    for (int64_t d = 0; d < rank; ++d) {
      if (op.getEdgePaddingLow()[d] < 0 || op.getEdgePaddingHigh()[d] < 0)
        return {};
      pieces += op.getInteriorPadding()[d] + (op.getEdgePaddingLow()[d] > 0) + (op.getEdgePaddingHigh()[d] > 0);
    }
    if (pieces > kMaxPieces || llvm::all_of(op.getInteriorPadding(), [](int64_t amount) { return amount == 0; }))
      return {};
    Location loc = op.getLoc();
    Value element = tensor::ExtractOp::create(rewriter, loc, adaptor.getPaddingValue(), ValueRange{});
    Value result = emptyTensor(rewriter, loc, type, staticSizes(rewriter, type));
    // The piece covers positions of operand elements in the dimensions before, and everything in the dimensions after.
    SmallVector<int64_t> offsets(rank, 0), steps(rank, 1), sizes(type.getShape());
    auto insert = [&](Value piece) {
      result = tensor::InsertSliceOp::create(rewriter, loc, piece, result, getAsIndexOpFoldResult(rewriter.getContext(), offsets),
                                             getAsIndexOpFoldResult(rewriter.getContext(), sizes),
                                             getAsIndexOpFoldResult(rewriter.getContext(), steps));
    };
    auto fill = [&](int64_t d, int64_t offset, int64_t size, int64_t step) {
      if (size <= 0)
        return;
      offsets[d] = offset, sizes[d] = size, steps[d] = step;
      RankedTensorType pieceType = type.clone(sizes);
      insert(splatTensor(rewriter, loc, pieceType, staticSizes(rewriter, pieceType), element));
    };
    for (int64_t d = 0; d < rank; ++d) {
      int64_t low = op.getEdgePaddingLow()[d], high = op.getEdgePaddingHigh()[d], step = op.getInteriorPadding()[d] + 1;
      int64_t count = from.getDimSize(d), whole = type.getDimSize(d);
      fill(d, 0, low, 1);
      for (int64_t between = 1; between < step; ++between)
        fill(d, low + between, count - 1, step);
      fill(d, whole - high, high, 1);
      offsets[d] = low, sizes[d] = count, steps[d] = step;
    }
    insert(adaptor.getOperand());
    return result;
  }
};

struct ConcatenatePattern : Pattern<ConcatenateOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(ConcatenateOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = resultType(op);
    Location loc = op.getLoc();
    int64_t dim = op.getDimension();
    IndexMath math(rewriter, loc);
    OpFoldResult total = rewriter.getIndexAttr(0);
    for (Value input : adaptor.getInputs())
      total = math.add(total, dimSize(rewriter, loc, input, dim));
    SmallVector<OpFoldResult> sizes = dimSizes(rewriter, loc, adaptor.getInputs().front());
    for (auto [d, extent] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(extent))
        sizes[d] = rewriter.getIndexAttr(extent);
      else if (int64_t(d) == dim)
        sizes[d] = total;
    Value result = emptyTensor(rewriter, loc, type, sizes);
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    for (Value input : adaptor.getInputs()) {
      SmallVector<OpFoldResult> inputSizes = dimSizes(rewriter, loc, input);
      result = tensor::InsertSliceOp::create(rewriter, loc, input, result, offsets, inputSizes, strides);
      offsets[dim] = math.add(offsets[dim], inputSizes[dim]);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateDataMovementPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BroadcastInDimPattern, BroadcastPattern, ConcatenatePattern, ConstantPattern, IotaPattern, PadPattern,
               ReshapePattern, ReversePattern, SlicePattern, TransposePattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering

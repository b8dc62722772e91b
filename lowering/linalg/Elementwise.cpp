// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.cpp - Elementwise operations to linalg.generic ---------===//
// Input:   %r = stablehlo.add %a, %b : tensor<4x?xui8>
// Output:  linalg.generic with identity maps whose body is the operation on scalars (ScalarOps.h); scalar bounds of clamp
//          and a scalar predicate of select get the map (d0, d1) -> ()
// Leaves alone operations on quantized tensors except select: stablehlo-legalize-quant-to-math runs before.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/LinalgBuilders.h"
#include "lowering/linalg/Patterns.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"
#include "lowering/linalg/scalar/ScalarOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

/// Returns the sizes of the result of an elementwise operation, from the first operand that has its rank.
FailureOr<SmallVector<OpFoldResult>> resultSizes(OpBuilder &builder, Location loc, RankedTensorType type,
                                                 ValueRange operands) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      sizes.push_back(builder.getIndexAttr(extent));
      continue;
    }
    auto hasRank = [&](Value v) { return cast<RankedTensorType>(v.getType()).getRank() == type.getRank(); };
    auto it = llvm::find_if(operands, hasRank);
    if (it == operands.end())
      return failure();
    sizes.push_back(dimSize(builder, loc, *it, dim));
  }
  return sizes;
}

struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &converter, StringRef name, MLIRContext *context, bool keepsAttributes)
      : ConversionPattern(converter, name, /*benefit=*/1, context), keepsAttributes(keepsAttributes) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands, ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "result has no storage type");
    auto sizes = resultSizes(rewriter, op->getLoc(), type, operands);
    if (failed(sizes))
      return rewriter.notifyMatchFailure(op, "no operand has the rank of the result");
    SmallVector<AffineMap> maps;
    for (Value operand : operands) {
      int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
      if (rank != type.getRank() && rank != 0)
        return rewriter.notifyMatchFailure(op, "operand of another rank");
      maps.push_back(rank == type.getRank() ? rewriter.getMultiDimIdentityMap(rank)
                                            : AffineMap::get(type.getRank(), 0, rewriter.getContext()));
    }
    bool known = true;
    Value result = mapElements(rewriter, op->getLoc(), type, *sizes, operands, maps,
                               [&](OpBuilder &builder, Location loc, ValueRange args) {
                                 SmallVector<Value> compute;
                                 for (auto [arg, operand] : llvm::zip_equal(args, op->getOperands()))
                                   compute.push_back(toCompute(builder, loc, arg, elementOf(operand)));
                                 FailureOr<Value> value = emitScalar(builder, op, compute);
                                 known = succeeded(value);
                                 return known ? toStorage(builder, loc, *value, elementOf(op->getResult(0)))
                                              : args.front();
                               });
    if (!known)
      return rewriter.notifyMatchFailure(op, "no scalar form for these element types");
    if (auto generic = result.getDefiningOp<linalg::GenericOp>(); generic && keepsAttributes)
      generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, result);
    return success();
  }

  bool keepsAttributes;
};

/// Converts bitcast_convert between different widths: it adds or removes the most minor dimension, low bits first.
struct BitcastWidthPattern : OpConversionPattern<stablehlo::BitcastConvertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    auto operandType = cast<RankedTensorType>(adaptor.getOperand().getType());
    Type from = elementOf(op.getOperand()), to = elementOf(op.getResult());
    if (!type || type.getRank() == operandType.getRank())
      return rewriter.notifyMatchFailure(op, "same width");
    if (!from.isIntOrFloat() || !to.isIntOrFloat())
      return rewriter.notifyMatchFailure(op, "neither integers nor floats");
    Location loc = op.getLoc();
    MLIRContext *context = rewriter.getContext();
    unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
    int64_t rank = type.getRank();

    SmallVector<OpFoldResult> sizes = dimSizes(rewriter, loc, adaptor.getOperand());
    if (toWidth < fromWidth) {
      sizes.push_back(rewriter.getIndexAttr(fromWidth / toWidth));
      AffineMap map = AffineMap::getMultiDimIdentityMap(rank, context).getMajorSubMap(rank - 1);
      rewriter.replaceOp(op, mapElements(rewriter, loc, type, sizes, adaptor.getOperand(), map,
                                         [&](OpBuilder &builder, Location bodyLoc, ValueRange args) {
                                           return narrow(builder, bodyLoc, args[0], from, to, rank - 1);
                                         }));
      return success();
    }
    sizes.pop_back();
    SmallVector<AffineMap> maps;
    for (unsigned part : llvm::seq(toWidth / fromWidth)) {
      AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
      maps.push_back(identity.insertResult(getAffineConstantExpr(part, context), rank));
    }
    SmallVector<Value> inputs(maps.size(), adaptor.getOperand());
    rewriter.replaceOp(op, mapElements(rewriter, loc, type, sizes, inputs, maps,
                                       [&](OpBuilder &builder, Location bodyLoc, ValueRange args) {
                                         return widen(builder, bodyLoc, args, from, to);
                                       }));
    return success();
  }

private:
  static Value narrow(OpBuilder &builder, Location loc, Value storage, Type from, Type to, int64_t partDim) {
    ScalarBuilder b(builder, loc);
    Value bits = toBits(b, toCompute(builder, loc, storage, from), from);
    Value part = linalg::IndexOp::create(builder, loc, partDim);
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), part);
    wide = b.muli(wide, b.i(to.getIntOrFloatBitWidth(), wide.getType()));
    Value shift = ScalarBuilder::widthOf(bits) == 64 ? wide : b.trunci(wide, bits.getType());
    Value piece = b.trunci(b.shrui(bits, shift), builder.getIntegerType(to.getIntOrFloatBitWidth()));
    return toStorage(builder, loc, fromBits(b, piece, to), to);
  }

  static Value widen(OpBuilder &builder, Location loc, ValueRange parts, Type from, Type to) {
    ScalarBuilder b(builder, loc);
    Type wide = builder.getIntegerType(to.getIntOrFloatBitWidth());
    Value bits;
    for (auto [position, storage] : llvm::enumerate(parts)) {
      Value piece = b.extui(toBits(b, toCompute(builder, loc, storage, from), from), wide);
      piece = b.shli(piece, position * from.getIntOrFloatBitWidth());
      bits = bits ? b.ori(bits, piece) : piece;
    }
    return toStorage(builder, loc, fromBits(b, bits, to), to);
  }
};

template <typename... Ops>
void addElementwise(const TypeConverter &converter, RewritePatternSet &patterns, bool keepsAttributes) {
  (patterns.add<ElementwisePattern>(converter, Ops::getOperationName(), patterns.getContext(), keepsAttributes), ...);
}

} // namespace

void populateElementwisePatterns(const TypeConverter &converter, RewritePatternSet &patterns, bool keepsAttributes) {
  using namespace stablehlo;
  addElementwise<AbsOp, AddOp, AndOp, Atan2Op, BitcastConvertOp, CbrtOp, CeilOp, ClampOp, ClzOp, CompareOp, ComplexOp,
                 ConvertOp, CosineOp, DivOp, ExpOp, Expm1Op, FloorOp, ImagOp, IsFiniteOp, LogOp, Log1pOp, LogisticOp,
                 MaxOp, MinOp, MulOp, NegOp, NotOp, OrOp, PopulationCountOp, PowOp, RealOp, ReducePrecisionOp, RemOp,
                 RoundOp, RoundNearestEvenOp, RsqrtOp, SelectOp, ShiftLeftOp, ShiftRightArithmeticOp,
                 ShiftRightLogicalOp, SignOp, SineOp, SqrtOp, SubtractOp, TanOp, TanhOp, XorOp>(converter, patterns, keepsAttributes);
  patterns.add<BitcastWidthPattern>(converter, patterns.getContext(), /*benefit=*/2);
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeQuantToMath.cpp - Compute quantized programs on storage integers -===//
// Input:   %1 = stablehlo.uniform_quantize %0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0:3>>
// Output:  convert(clamp(-128, round_nearest_even(%0 / 2.0) + 3.0, 127)) : tensor<4xi8>
// Leaves alone values that are not quantized.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/simplify/TypeRewrite.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Builders.h"
#include "passes/simplify/QuantPatterns.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOLEGALIZEQUANTTOMATHPASS
#include "passes/simplify/Passes.h.inc"

namespace {

Type storageElement(quant::QuantizedType type) {
  unsigned width = type.getStorageTypeIntegralWidth();
  return IntegerType::get(type.getContext(), width, type.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
}

struct StorageTypes : TypeConverter {
  StorageTypes() {
    addConversion([](Type type) { return type; });
    addConversion([](RankedTensorType type) -> Type {
      quant::QuantizedType element = quantizedElement(type);
      return element ? type.clone(storageElement(element)) : type;
    });
    addConversion([this](TupleType type) -> std::optional<Type> {
      SmallVector<Type> types;
      if (failed(convertTypes(type.getTypes(), types)))
        return std::nullopt;
      return TupleType::get(type.getContext(), types);
    });
    addConversion([this](FutureType type) -> std::optional<Type> {
      SmallVector<Type> types;
      if (failed(convertTypes(type.getTypes(), types)))
        return std::nullopt;
      return FutureType::get(type.getContext(), types);
    });
  }
};

/// Float type in which storage values and zero points are exact and scales keep their precision.
FloatType computeType(Builder &builder, quant::QuantizedType type) {
  bool wide = type.getExpressedType().isF64() || type.getStorageTypeIntegralWidth() > 16;
  return wide ? FloatType(builder.getF64Type()) : FloatType(builder.getF32Type());
}

/// `values` (one, or one per position of `axis`) in the shape of `like`.
Value parameter(OpBuilder &builder, Location loc, Value like, ArrayRef<double> values, int64_t axis) {
  Type element = cast<ShapedType>(like.getType()).getElementType();
  if (axis < 0)
    return constantLike(builder, loc, like, values[0]);
  auto type = RankedTensorType::get({int64_t(values.size())}, element);
  Value vector;
  if (element.isF64())
    vector = ConstantOp::create(builder, loc, DenseElementsAttr::get(type, values));
  else
    vector = ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, ArrayRef<float>(SmallVector<float>(values.begin(), values.end()))));
  return broadcastLike(builder, loc, vector, like, axis);
}

/// Scale and zero point of `type` in the shape of `like`; the zero point is null if it is zero everywhere.
std::pair<Value, Value> parameters(OpBuilder &builder, Location loc, quant::QuantizedType type, Value like) {
  SmallVector<double> scales, zeroPoints;
  int64_t axis = -1;
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
    axis = perAxis.getQuantizedDimension();
    llvm::append_range(scales, perAxis.getScales());
    llvm::append_range(zeroPoints, perAxis.getZeroPoints());
  } else {
    auto perTensor = cast<quant::UniformQuantizedType>(type);
    scales.push_back(perTensor.getScale());
    zeroPoints.push_back(perTensor.getZeroPoint());
  }
  Value scale = parameter(builder, loc, like, scales, axis), zeroPoint;
  if (llvm::any_of(zeroPoints, [](double zp) { return zp != 0; }))
    zeroPoint = parameter(builder, loc, like, zeroPoints, axis);
  return {scale, zeroPoint};
}

/// (storage - zero point) * scale, in the computing type.
Value dequantize(OpBuilder &builder, Location loc, Value storage, quant::QuantizedType type) {
  Value value = convertTo(builder, loc, storage, computeType(builder, type));
  auto [scale, zeroPoint] = parameters(builder, loc, type, value);
  if (zeroPoint)
    value = SubtractOp::create(builder, loc, value, zeroPoint);
  return MulOp::create(builder, loc, value, scale);
}

/// clamp(min, round(value / scale) + zero point, max) as storage.
Value quantize(OpBuilder &builder, Location loc, Value value, quant::QuantizedType type) {
  value = convertTo(builder, loc, value, computeType(builder, type));
  auto [scale, zeroPoint] = parameters(builder, loc, type, value);
  value = RoundNearestEvenOp::create(builder, loc, DivOp::create(builder, loc, value, scale));
  if (zeroPoint)
    value = AddOp::create(builder, loc, value, zeroPoint);
  Type compute = cast<ShapedType>(value.getType()).getElementType();
  Value min = scalarConstant(builder, loc, compute, type.getStorageTypeMin());
  Value max = scalarConstant(builder, loc, compute, type.getStorageTypeMax());
  value = ClampOp::create(builder, loc, min, value, max);
  return convertTo(builder, loc, value, storageElement(type));
}

struct ConvertQuantize : OpConversionPattern<UniformQuantizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(UniformQuantizeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value value = adaptor.getOperand();
    if (quant::QuantizedType from = quantizedElement(op.getOperand().getType()))
      value = dequantize(rewriter, op.getLoc(), value, from);
    rewriter.replaceOp(op, quantize(rewriter, op.getLoc(), value, quantizedElement(op.getType())));
    return success();
  }
};

struct ConvertDequantize : OpConversionPattern<UniformDequantizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(UniformDequantizeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    quant::QuantizedType type = quantizedElement(op.getOperand().getType());
    Value value = dequantize(rewriter, op.getLoc(), adaptor.getOperand(), type);
    rewriter.replaceOp(op, convertTo(rewriter, op.getLoc(), value, type.getExpressedType()));
    return success();
  }
};

struct ConvertConstant : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(op, "the value is no dense elements");
    Type element = cast<ShapedType>(getTypeConverter()->convertType(op.getType())).getElementType();
    if (value.getElementType() != element)
      value = value.bitcast(element);
    rewriter.replaceOpWithNewOp<ConstantOp>(op, value);
    return success();
  }
};

/// Everything that only moves elements, or has a body that computes.
struct ConvertTypes : ConversionPattern {
  ConvertTypes(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_present<StablehloDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "not of StableHLO");
    if (computesOnExpressedValues(op))
      return rewriter.notifyMatchFailure(op, "computes: its storage has no meaning of its own");
    FailureOr<Operation *> converted = convertTypes(op, operands, *getTypeConverter(), rewriter);
    if (failed(converted))
      return failure();
    rewriter.replaceOp(op, *converted);
    return success();
  }
};

/// Returns true if a value of `module` has quantized elements.
bool hasQuantizedValues(ModuleOp module) {
  auto isQuantized = [](Type type) { return bool(quantizedElement(type)); };
  return module
      ->walk([&](Operation *op) {
        bool found = llvm::any_of(op->getResultTypes(), isQuantized);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            found |= llvm::any_of(block.getArgumentTypes(), isQuantized);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct LegalizeQuantToMath : impl::StablehloLegalizeQuantToMathPassBase<LegalizeQuantToMath> {
  void runOnOperation() override {
    // Most programs have none, and collecting the patterns takes longer than to see that.
    if (!hasQuantizedValues(getOperation()))
      return;
    MLIRContext *context = &getContext();
    RewritePatternSet qdq(context);
    populateQuantizedOpToQdqPatterns(qdq);
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(qdq), config)))
      return signalPassFailure();

    StorageTypes types;
    RewritePatternSet patterns(context);
    patterns.add<ConvertConstant, ConvertDequantize, ConvertQuantize>(types, context);
    patterns.add<ConvertTypes>(types, context);
    if (failed(convertAllTypes(getOperation(), types, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::simplify

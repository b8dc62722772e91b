// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeQuantToMath.cpp - Compute quantized programs on storage integers -===//
// Input:   %1 = stablehlo.uniform_quantize %0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0:3>>
// Output:  convert(round_nearest_even(clamp(-128, %0 / 2.0 + 3.0, 127))) : tensor<4xi8>
// Leaves alone values that are not quantized.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/simplify/versions/TypeRewrite.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Builders.h"
#include "passes/simplify/quantized/QuantPatterns.h"

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

/// Float type in which differences of storage values and zero points are exact.
FloatType exactType(Builder &builder, quant::QuantizedType type) {
  bool wide = type.getStorageTypeIntegralWidth() > 16;
  return wide ? FloatType(builder.getF64Type()) : FloatType(builder.getF32Type());
}

/// `values` (one, or one per position of `axis`) in the shape of `like`.
Value parameter(OpBuilder &builder, Location loc, Value like, ArrayRef<double> values, int64_t axis) {
  Type element = cast<ShapedType>(like.getType()).getElementType();
  if (axis < 0)
    return constantLike(builder, loc, like, values[0]);
  auto type = RankedTensorType::get({int64_t(values.size())}, element);
  Value vector;
  SmallVector<APFloat> rounded;
  for (double value : values) {
    bool losesInfo;
    rounded.emplace_back(value).convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  }
  vector = ConstantOp::create(builder, loc, DenseElementsAttr::get(type, rounded));
  return broadcastLike(builder, loc, vector, like, axis);
}

/// Scales and zero points of `type`, one or one per position of its axis (-1 if there is none).
struct Parameters {
  SmallVector<double> scales, zeroPoints;
  int64_t axis = -1;

  explicit Parameters(quant::QuantizedType type) {
    if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
      axis = perAxis.getQuantizedDimension();
      llvm::append_range(scales, perAxis.getScales());
      llvm::append_range(zeroPoints, perAxis.getZeroPoints());
    } else {
      auto perTensor = cast<quant::UniformQuantizedType>(type);
      scales.push_back(perTensor.getScale());
      zeroPoints.push_back(perTensor.getZeroPoint());
    }
  }
  bool hasZeroPoint() const {
    return llvm::any_of(zeroPoints, [](double zp) { return zp != 0; });
  }
};

/// (storage - zero point) * scale in the expressed type.
Value dequantize(OpBuilder &builder, Location loc, Value storage, quant::QuantizedType type) {
  Parameters parameters(type);
  Value value = convertTo(builder, loc, storage, exactType(builder, type));
  if (parameters.hasZeroPoint())
    value = SubtractOp::create(builder, loc, value, parameter(builder, loc, value, parameters.zeroPoints, parameters.axis));
  value = convertTo(builder, loc, value, type.getExpressedType());
  return MulOp::create(builder, loc, value, parameter(builder, loc, value, parameters.scales, parameters.axis));
}

/// convert(round_nearest_even(clamp(min, value / scale + zero point, max))) in the expressed type.
Value quantize(OpBuilder &builder, Location loc, Value value, quant::QuantizedType type) {
  Parameters parameters(type);
  value = DivOp::create(builder, loc, value, parameter(builder, loc, value, parameters.scales, parameters.axis));
  if (parameters.hasZeroPoint())
    value = AddOp::create(builder, loc, value, parameter(builder, loc, value, parameters.zeroPoints, parameters.axis));
  Type compute = cast<ShapedType>(value.getType()).getElementType();
  int64_t least = type.getStorageTypeMin(), most = type.getStorageTypeMax();
  value = ClampOp::create(builder, loc, scalarConstant(builder, loc, compute, least), value,
                          scalarConstant(builder, loc, compute, most));
  value = RoundNearestEvenOp::create(builder, loc, value);
  Type storage = storageElement(type);
  value = convertTo(builder, loc, value, storage);
  // A bound that the expressed type does not have was rounded, maybe outwards; NaN became 0, which need not be between the bounds.
  const llvm::fltSemantics &semantics = cast<FloatType>(compute).getFloatSemantics();
  auto isExact = [&](int64_t bound) {
    bool losesInfo = false;
    APFloat(static_cast<double>(bound)).convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    return !losesInfo;
  };
  if (least > 0 || most < 0 || !isExact(least) || !isExact(most))
    value = ClampOp::create(builder, loc, scalarConstant(builder, loc, storage, least), value,
                            scalarConstant(builder, loc, storage, most));
  return value;
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
    rewriter.replaceOp(op, dequantize(rewriter, op.getLoc(), adaptor.getOperand(), type));
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
      return rewriter.notifyMatchFailure(op, "the operation computes with values, so storage integers cannot replace them");
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

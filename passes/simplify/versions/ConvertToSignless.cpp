// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConvertToSignless.cpp - Unsigned types -> signless types -----------===//
// Input:   func.func @f(%x: tensor<4xui8>) -> tensor<4xui8>
// Output:  func.func @f(%x: tensor<4xi8>) -> tensor<4xi8>
// Leaves alone operations whose meaning depends on the sign: run it after they are lowered. Other operations of
// StableHLO only get other types.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/simplify/versions/TypeRewrite.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOCONVERTTOSIGNLESSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

Type signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? IntegerType::get(type.getContext(), integer.getWidth()) : type;
}

struct SignlessTypes : TypeConverter {
  SignlessTypes() {
    addConversion([](Type type) { return signless(type); });
    addConversion([](ShapedType type) -> Type { return type.clone(signless(type.getElementType())); });
    auto cast = [](OpBuilder &builder, Type type, ValueRange inputs, Location loc) -> Value {
      return UnrealizedConversionCastOp::create(builder, loc, type, inputs).getResult(0);
    };
    addSourceMaterialization(cast);
    addTargetMaterialization(cast);
  }
};

struct ConvertTypes : ConversionPattern {
  ConvertTypes(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Operation *> converted = convertTypes(op, operands, *getTypeConverter(), rewriter);
    if (failed(converted))
      return failure();
    rewriter.replaceOp(op, *converted);
    return success();
  }
};

struct ConvertConstant : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(op, "the value is no dense elements");
    Type element = signless(value.getElementType());
    rewriter.replaceOpWithNewOp<ConstantOp>(op, value.getElementType() == element ? value : value.bitcast(element));
    return success();
  }
};

struct ConvertToSignless : impl::StablehloConvertToSignlessPassBase<ConvertToSignless> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    SignlessTypes types;
    RewritePatternSet patterns(context);
    patterns.add<ConvertConstant>(types, context);
    patterns.add<ConvertTypes>(types, context);
    if (failed(convertAllTypes(getOperation(), types, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::simplify

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeQuantizedOpToQDQ.cpp - Quantized operation -> dequantize, operation, quantize -===//
// Input:   %2 = stablehlo.add %0, %1 : tensor<4x!quant.uniform<i8:f32, 2.0:3>>
// Output:  %a = stablehlo.uniform_dequantize %0   %b = stablehlo.uniform_dequantize %1
//          %c = stablehlo.add %a, %b : tensor<4xf32>   %2 = stablehlo.uniform_quantize %c
// Leaves alone operations that only move elements, and operations with a body: the body is rewritten.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/quantized/QuantPatterns.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOLEGALIZEQUANTIZEDOPTOQDQPASS
#include "passes/simplify/Passes.h.inc"

quant::QuantizedType quantizedElement(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? dyn_cast<quant::QuantizedType>(shaped.getElementType()) : quant::QuantizedType();
}

Type expressedType(Type type) {
  quant::QuantizedType element = quantizedElement(type);
  return element ? cast<ShapedType>(type).clone(element.getExpressedType()) : type;
}

bool computesOnExpressedValues(Operation *op) {
  return isa<AbsOp, AddOp, Atan2Op, BatchNormGradOp, BatchNormInferenceOp, BatchNormTrainingOp, CbrtOp, CeilOp,
             CholeskyOp, ClampOp, CompareOp, ConvolutionOp, CosineOp, DivOp, DotGeneralOp, DotOp, DynamicConvOp,
             DynamicIotaOp, EinsumOp, ExpOp, Expm1Op, FloorOp, IotaOp, IsFiniteOp, Log1pOp, LogOp, LogisticOp, MaxOp,
             MinOp, MulOp, NegOp, PowOp, ReducePrecisionOp, RemOp, RoundNearestEvenOp, RoundOp, RsqrtOp, SignOp, SineOp,
             SqrtOp, SubtractOp, TanOp, TanhOp, TriangularSolveOp, UnaryEinsumOp>(op);
}

namespace {

struct QuantizedOpToQdq : RewritePattern {
  QuantizedOpToQdq(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!computesOnExpressedValues(op))
      return rewriter.notifyMatchFailure(op, "moves elements, has a body, or converts");
    auto isQuantized = [](Type type) { return bool(quantizedElement(type)); };
    if (llvm::none_of(op->getOperandTypes(), isQuantized) && llvm::none_of(op->getResultTypes(), isQuantized))
      return rewriter.notifyMatchFailure(op, "not quantized");
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isQuantized(operand.getType())
                             ? Value(UniformDequantizeOp::create(rewriter, loc, expressedType(operand.getType()), operand))
                             : operand);
    SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), expressedType);
    OperationState state(loc, op->getName(), operands, types, op->getAttrs());
    Operation *computed = rewriter.create(state);
    // Values are floats now, whatever the storage was compared as.
    if (auto compare = dyn_cast<CompareOp>(computed); compare && compare.getCompareTypeAttr())
      compare.setCompareType(ComparisonType::FLOAT);
    SmallVector<Value> results;
    for (auto [result, type] : llvm::zip_equal(computed->getResults(), op->getResultTypes()))
      results.push_back(isQuantized(type) ? Value(UniformQuantizeOp::create(rewriter, loc, type, result)) : result);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LegalizeQuantizedOpToQDQ : impl::StablehloLegalizeQuantizedOpToQDQPassBase<LegalizeQuantizedOpToQDQ> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateQuantizedOpToQdqPatterns(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace

void populateQuantizedOpToQdqPatterns(RewritePatternSet &patterns) {
  patterns.add<QuantizedOpToQdq>(patterns.getContext());
}

} // namespace millrace::simplify

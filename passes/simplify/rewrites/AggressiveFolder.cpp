// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AggressiveFolder.cpp - Evaluate operations on constants ------------===//
// Input:   %2 = stablehlo.add %c0, %c1 : tensor<4xi32>, both constants
// Output:  a constant with the sums, computed by the evaluator
// Leaves alone operations with more elements than fold-op-element-limit, of too many steps, with side effects, or without a value that
// the specification fixes (rng); floats with optimize-float=false.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Evaluator.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/rewrites/SimplifyPatterns.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOAGGRESSIVEFOLDERPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// An operation that takes more evaluator steps is not folded, because folding would take some tenths of a second of the compilation. Unit: steps of
/// the evaluator for each element of the largest tensor that is folded. Source: judgement, not measured alone.
constexpr int64_t kStepsPerElement = 64;

/// Number of elements, or nothing if `type` is no static tensor that a constant can hold.
std::optional<int64_t> staticElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() || isa<quant::QuantizedType>(tensor.getElementType()))
    return std::nullopt;
  return tensor.getNumElements();
}

bool isFloat(Type type) {
  Type element = cast<ShapedType>(type).getElementType();
  return isa<FloatType, ComplexType>(element);
}

/// Returns the number of elements that the evaluator combines to compute the results: windows and contractions read each operand element many times.
int64_t stepsOf(Operation *op, int64_t largest) {
  auto product = [](ArrayRef<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= std::max<int64_t>(size, 1);
    return count;
  };
  if (auto window = dyn_cast<ReduceWindowOp>(op))
    return largest * product(window.getWindowDimensions());
  if (auto scatter = dyn_cast<SelectAndScatterOp>(op))
    return scatter.getWindowDimensions() ? largest * product(*scatter.getWindowDimensions()) : largest;
  if (isa<DotOp, DotGeneralOp, ConvolutionOp>(op)) {
    auto lhs = cast<ShapedType>(op->getOperand(0).getType()), rhs = cast<ShapedType>(op->getOperand(1).getType());
    auto result = cast<ShapedType>(op->getResult(0).getType());
    return product(result.getShape()) * std::min(product(lhs.getShape()), product(rhs.getShape()));
  }
  return largest;
}

struct EvaluateOp : RewritePattern {
  EvaluateOp(MLIRContext *context, FoldLimits limits, PatternBenefit benefit)
      : RewritePattern(MatchAnyOpTypeTag(), benefit, context), limits(limits) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_present<StablehloDialect>(op->getDialect()) || op->getNumResults() == 0)
      return rewriter.notifyMatchFailure(op, "not of StableHLO");
    // A barrier exists to prevent folding; the values of ids and random numbers are not known at compile time.
    if (isa<ConstantOp, OptimizationBarrierOp, CustomCallOp, CompositeOp, RngOp, ReplicaIdOp, PartitionIdOp, WhileOp>(op))
      return rewriter.notifyMatchFailure(op, "no value at compile time");
    if (!isMemoryEffectFree(op) && !(limits.ignoreUndeclaredEffects && op->getNumRegions() == 0 &&
                                     !isa<MemoryEffectOpInterface>(op)))
      return rewriter.notifyMatchFailure(op, "has side effects");
    int64_t largest = 0;
    for (Type type : op->getResultTypes()) {
      std::optional<int64_t> elements = staticElements(type);
      if (!elements)
        return rewriter.notifyMatchFailure(op, "a result that is no static tensor");
      if (!limits.floats && isFloat(type))
        return rewriter.notifyMatchFailure(op, "floats are not to be folded");
      largest = std::max(largest, *elements);
    }
    SmallVector<DenseElementsAttr> constantOperands;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr value;
      if (!staticElements(operand.getType()) || !matchPattern(operand, m_Constant(&value)))
        return rewriter.notifyMatchFailure(op, "an operand is no constant");
      // A splat attribute stores one element, but the evaluator expands it to all of them.
      largest = std::max(largest, value.getNumElements());
      constantOperands.push_back(value);
    }
    if (largest > limits.elements)
      return rewriter.notifyMatchFailure(op, "more elements than fold-op-element-limit");
    if (stepsOf(op, largest) > limits.elements * kStepsPerElement)
      return rewriter.notifyMatchFailure(op, "more steps than are worth it");
    // A body must not read values from outside.
    bool capturing = false;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (Value value : inner->getOperands())
          capturing |= !region.isAncestor(value.getParentRegion());
      });
    if (capturing)
      return rewriter.notifyMatchFailure(op, "the body reads values from outside");
    // The operands are unpacked last, because unpacking takes longer than all checks above.
    SmallVector<eval::Value> operands;
    for (DenseElementsAttr value : constantOperands) {
      llvm::Expected<eval::Tensor> tensor = eval::Tensor::fromAttr(value);
      if (!tensor) {
        llvm::consumeError(tensor.takeError());
        return rewriter.notifyMatchFailure(op, "an operand that the evaluator cannot hold");
      }
      operands.push_back(std::move(*tensor));
    }
    eval::Options options;
    options.maxSteps = 1 << 20;
    auto results = eval::evaluateOp(op, operands, options);
    if (!results) {
      std::string message = llvm::toString(results.takeError());
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &diag) { diag << "cannot be evaluated: " << message; });
    }
    SmallVector<Value> constants;
    for (auto [value, type] : llvm::zip_equal(*results, op->getResultTypes())) {
      DenseElementsAttr attr = value.tensor().toAttr();
      if (attr.getType() != type)
        return rewriter.notifyMatchFailure(op, "the value has another type");
      constants.push_back(ConstantOp::create(rewriter, op->getLoc(), attr));
    }
    rewriter.replaceOp(op, constants);
    return success();
  }

private:
  FoldLimits limits;
};

struct AggressiveFolder : impl::StablehloAggressiveFolderPassBase<AggressiveFolder> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    populateFolding(owned, {foldOpElementLimit, optimizeFloat, assumeNoUndeclaredSideEffects});
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (isa<StablehloDialect>(op.getDialect()))
        op.getCanonicalizationPatterns(owned, context);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override {
    // Not reaching a fixed point only leaves something to fold.
    (void)applyPatternsGreedily(getOperation(), patterns);
  }
  FrozenRewritePatternSet patterns;
};

} // namespace

void populateFolding(RewritePatternSet &patterns, FoldLimits limits, PatternBenefit benefit) {
  patterns.add<EvaluateOp>(patterns.getContext(), limits, benefit);
}

} // namespace millrace::simplify

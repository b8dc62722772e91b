// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeQDQToQuantizedOp.cpp - Dequantize, operation, quantize -> quantized operation -===//
// Input:   %a = stablehlo.uniform_dequantize %0   %b = stablehlo.abs %a   %1 = stablehlo.uniform_quantize %b
// Output:  %1 = stablehlo.abs %0 : tensor<4x!quant.uniform<i8:f32, 2.0:3>>
// Leaves alone an operation of which an operand is not dequantized, or a result is also used as a float.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOLEGALIZEQDQTOQUANTIZEDOPPASS
#include "passes/simplify/Passes.h.inc"

namespace {

struct QdqToQuantizedOp : OpRewritePattern<UniformQuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UniformQuantizeOp quantize, PatternRewriter &rewriter) const override {
    Operation *op = quantize.getOperand().getDefiningOp();
    if (!op || op->getNumRegions() != 0 || op->getNumOperands() == 0 || op->getNumResults() != 1 ||
        !isa_and_present<StablehloDialect>(op->getDialect()) || isa<UniformDequantizeOp, UniformQuantizeOp>(op))
      return rewriter.notifyMatchFailure(quantize, "not the result of a plain operation");
    if (!op->hasOneUse())
      return rewriter.notifyMatchFailure(quantize, "the float value has other users");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto dequantize = operand.getDefiningOp<UniformDequantizeOp>();
      if (!dequantize)
        return rewriter.notifyMatchFailure(quantize, "an operand is not dequantized");
      operands.push_back(dequantize.getOperand());
    }
    OperationState state(op->getLoc(), op->getName(), operands, quantize->getResultTypes(), op->getAttrs());
    rewriter.replaceOp(quantize, rewriter.create(state));
    rewriter.eraseOp(op);
    return success();
  }
};

struct LegalizeQDQToQuantizedOp : impl::StablehloLegalizeQDQToQuantizedOpPassBase<LegalizeQDQToQuantizedOp> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<QdqToQuantizedOp>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::simplify

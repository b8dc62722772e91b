// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CanonicalizeDynamism.cpp - Dynamic operations with constant amounts -> static ones -===//
// Input:   %1 = stablehlo.dynamic_reshape %0, %shape : (tensor<16xf32>, tensor<2xi64>) -> tensor<4x4xf32>
// Output:  %1 = stablehlo.reshape %0 : (tensor<16xf32>) -> tensor<4x4xf32>
// Leaves alone results of dynamic shape: stablehlo-refine-shapes makes them static first where it can.
#include "passes/simplify/Passes.h"

#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/BitVector.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/shapes/DynamicCalls.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOCANONICALIZEDYNAMISMPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Input:  dynamic_conv with constant padding        Output: convolution
struct StaticConvolution : OpRewritePattern<DynamicConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicConvOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> padding;
    if (failed(matchInts(op.getPadding(), padding)))
      return rewriter.notifyMatchFailure(op, "the padding is no constant");
    auto type = RankedTensorType::get({int64_t(padding.size()) / 2, 2}, rewriter.getI64Type());
    rewriter.replaceOpWithNewOp<ConvolutionOp>(
        op, op->getResult(0).getType(), op.getLhs(), op.getRhs(), op.getWindowStridesAttr(),
        DenseIntElementsAttr::get(type, padding), op.getLhsDilationAttr(), op.getRhsDilationAttr(),
        op.getWindowReversalAttr(), op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
        op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
    return success();
  }
};

/// Input:  dynamic_gather with constant slice sizes      Output: gather
struct StaticGather : OpRewritePattern<DynamicGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicGatherOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> sizes;
    if (failed(matchInts(op.getSliceSizes(), sizes)))
      return rewriter.notifyMatchFailure(op, "the slice sizes are no constants");
    rewriter.replaceOpWithNewOp<GatherOp>(op, op->getResult(0).getType(), op.getOperand(), op.getStartIndices(),
                                          op.getDimensionNumbersAttr(), rewriter.getDenseI64ArrayAttr(sizes),
                                          op.getIndicesAreSortedAttr());
    return success();
  }
};

/// Input:  custom_call @f(%x, %shape) {indices_of_shape_operands = dense<1>}, constant      Output: custom_call @f(%x)
struct StaticCustomCall : OpRewritePattern<CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CustomCallOp op, PatternRewriter &rewriter) const override {
    auto indices = op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
    if (!indices || !indices.getElementType().isInteger(64) || indices.getNumElements() != int64_t(op->getNumResults()))
      return rewriter.notifyMatchFailure(op, "no operands for the shapes of the results");
    // StableHLO's own calls have patterns of their own; aliases count the operands that would go.
    ArrayAttr aliases = op.getOutputOperandAliases();
    if (op.getCallTargetName().starts_with("stablehlo.") || (aliases && !aliases.empty()))
      return rewriter.notifyMatchFailure(op, "a call whose operands keep their places");
    llvm::BitVector shapeOperands(op->getNumOperands());
    for (auto [i, index] : llvm::enumerate(indices.getValues<int64_t>())) {
      SmallVector<int64_t> shape;
      auto type = dyn_cast<RankedTensorType>(op->getResult(i).getType());
      if (!type || index < 0 || index >= int64_t(op->getNumOperands()) || failed(matchInts(op->getOperand(index), shape)) ||
          ArrayRef<int64_t>(shape) != type.getShape())
        return rewriter.notifyMatchFailure(op, "a shape is no constant, or another than the result has");
      shapeOperands.set(index);
    }
    rewriter.modifyOpInPlace(op, [&] {
      if (auto layouts = op->getAttrOfType<ArrayAttr>("operand_layouts")) {
        SmallVector<Attribute> kept;
        for (auto [i, layout] : llvm::enumerate(layouts))
          if (!shapeOperands.test(i))
            kept.push_back(layout);
        op->setAttr("operand_layouts", rewriter.getArrayAttr(kept));
      }
      op->eraseOperands(shapeOperands);
      op->removeAttr("indices_of_shape_operands");
    });
    return success();
  }
};

struct CanonicalizeDynamism : impl::StablehloCanonicalizeDynamismPassBase<CanonicalizeDynamism> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<StaticConvolution, StaticCustomCall, StaticGather>(context);
    populateDynamicCallPatterns(patterns);
    DynamicBroadcastInDimOp::getCanonicalizationPatterns(patterns, context);
    DynamicIotaOp::getCanonicalizationPatterns(patterns, context);
    DynamicPadOp::getCanonicalizationPatterns(patterns, context);
    DynamicReshapeOp::getCanonicalizationPatterns(patterns, context);
    RealDynamicSliceOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::simplify

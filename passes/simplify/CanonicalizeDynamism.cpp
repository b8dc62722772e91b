// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CanonicalizeDynamism.cpp - Dynamic operations with constant amounts -> static ones -===//
// Input:   %1 = stablehlo.dynamic_reshape %0, %shape : (tensor<16xf32>, tensor<2xi64>) -> tensor<4x4xf32>
// Output:  %1 = stablehlo.reshape %0 : (tensor<16xf32>) -> tensor<4x4xf32>
// Leaves alone results of dynamic shape: stablehlo-refine-shapes makes them static first where it can.
#include "passes/simplify/Passes.h"

#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/DynamicCalls.h"

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

struct CanonicalizeDynamism : impl::StablehloCanonicalizeDynamismPassBase<CanonicalizeDynamism> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<StaticConvolution, StaticGather>(context);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandBatchNorm.cpp - Write batch_norm_* with elementary operations -===//
// Input:   "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %var)
// Output:  (%x - %mean) / sqrt(%var + epsilon) * %scale + %offset, vectors broadcast along feature_index
// Leaves alone quantized batch norms: quantization has its own passes.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Builders.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_EXPANDBATCHNORMPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// What the three operations share: the computing type, the shape, the feature dimension.
struct Expansion {
  PatternRewriter &builder;
  Location loc;
  Type element, compute;
  int64_t feature;
  Value like;
  SmallVector<int64_t> others;

  Expansion(PatternRewriter &builder, Operation *op, Value operand, int64_t feature)
      : builder(builder), loc(op->getLoc()), element(cast<ShapedType>(operand.getType()).getElementType()),
        compute(element.getIntOrFloatBitWidth() < 32 ? builder.getF32Type() : element), feature(feature) {
    for (int64_t dim = 0, e = cast<ShapedType>(operand.getType()).getRank(); dim != e; ++dim)
      if (dim != feature)
        others.push_back(dim);
    like = in(operand);
  }

  Value in(Value value) { return convertTo(builder, loc, value, compute); }
  Value out(Value value, Type type) {
    Value result = convertTo(builder, loc, value, element);
    return result.getType() == type ? result : ConvertOp::create(builder, loc, type, result);
  }
  Value wide(Value vector) { return broadcastLike(builder, loc, vector, like, feature); }
  Value add(Value a, Value b) { return AddOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return SubtractOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return MulOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return DivOp::create(builder, loc, a, b); }
  Value sum(Value value) { return reduceSum(builder, loc, value, others); }

  /// Number of elements per feature, as a scalar of the computing type.
  Value count() {
    auto type = cast<RankedTensorType>(like.getType());
    double known = 1;
    Value unknown;
    for (int64_t dim : others) {
      if (!type.isDynamicDim(dim)) {
        known *= type.getDimSize(dim);
        continue;
      }
      Value size = convertTo(builder, loc, GetDimensionSizeOp::create(builder, loc, like, dim), compute);
      unknown = unknown ? mul(unknown, size) : size;
    }
    Value constant = scalarConstant(builder, loc, compute, known);
    return unknown ? mul(unknown, constant) : constant;
  }
  Value mean(Value value) {
    Value total = sum(value);
    return div(total, broadcastLike(builder, loc, count(), total, {}));
  }
  Value plusEpsilon(Value variance, const APFloat &epsilon) {
    return add(variance, constantLike(builder, loc, variance, epsilon.convertToFloat()));
  }
  Value sqrt(Value value) { return SqrtOp::create(builder, loc, value); }
  Value normalize(Value centered, Value variance, Value scale, Value offset, const APFloat &epsilon) {
    Value deviation = sqrt(plusEpsilon(variance, epsilon));
    return add(mul(div(centered, wide(deviation)), wide(scale)), wide(offset));
  }
};

template <typename OpTy>
struct ExpandPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(cast<ShapedType>(op.getOperand().getType()).getElementType()))
      return rewriter.notifyMatchFailure(op, "quantized");
    Expansion e(rewriter, op, op.getOperand(), op.getFeatureIndex());
    rewriter.replaceOp(op, expand(op, e));
    return success();
  }
  static SmallVector<Value> expand(BatchNormInferenceOp op, Expansion &e) {
    Value centered = e.sub(e.like, e.wide(e.in(op.getMean())));
    return {e.out(e.normalize(centered, e.in(op.getVariance()), e.in(op.getScale()), e.in(op.getOffset()), op.getEpsilon()),
                  op.getType())};
  }
  static SmallVector<Value> expand(BatchNormTrainingOp op, Expansion &e) {
    Value mean = e.mean(e.like);
    Value centered = e.sub(e.like, e.wide(mean));
    Value variance = e.mean(e.mul(centered, centered));
    Value output = e.normalize(centered, variance, e.in(op.getScale()), e.in(op.getOffset()), op.getEpsilon());
    return {e.out(output, op.getOutput().getType()), e.out(mean, op.getBatchMean().getType()),
            e.out(variance, op.getBatchVar().getType())};
  }
  /// d operand = scale / sqrt(var + eps) / n * (n * g - sum(g) - centered * sum(g * centered) / (var + eps)).
  static SmallVector<Value> expand(BatchNormGradOp op, Expansion &e) {
    Value grad = e.in(op.getGradOutput());
    Value centered = e.sub(e.like, e.wide(e.in(op.getMean())));
    Value variance = e.plusEpsilon(e.in(op.getVariance()), op.getEpsilon());
    Value deviation = e.sqrt(variance);
    Value gradSum = e.sum(grad);
    Value projection = e.sum(e.mul(grad, centered));
    Value n = e.count();
    Value inner = e.sub(e.sub(e.mul(grad, broadcastLike(e.builder, e.loc, n, grad, {})), e.wide(gradSum)),
                        e.div(e.mul(e.wide(projection), centered), e.wide(variance)));
    Value factor = e.div(e.div(e.in(op.getScale()), deviation), broadcastLike(e.builder, e.loc, n, deviation, {}));
    Value gradScale = e.sum(e.mul(grad, e.div(centered, e.wide(deviation))));
    return {e.out(e.mul(e.wide(factor), inner), op.getGradOperand().getType()),
            e.out(gradScale, op.getGradScale().getType()), e.out(gradSum, op.getGradOffset().getType())};
  }
};

struct ExpandBatchNorm : impl::ExpandBatchNormPassBase<ExpandBatchNorm> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    owned.add<ExpandPattern<BatchNormGradOp>, ExpandPattern<BatchNormInferenceOp>, ExpandPattern<BatchNormTrainingOp>>(context);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      signalPassFailure();
  }
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace millrace::simplify

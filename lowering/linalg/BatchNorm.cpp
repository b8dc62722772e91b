// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchNorm.cpp - batch_norm_* to linalg -----------------------------===//
// Input:   "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon, feature_index}>
// Output:  per feature f: mean and variance (two linalg.generic reductions), then one elementwise linalg.generic
//          scale * (x - mean) / sqrt(variance + epsilon) + offset
// Input:   "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %dy)
// Output:  reductions of dy and dy * (x - mean), then grad_x = scale / sqrt(v + eps) * (dy - (sum(dy) + (x - mean) * sum(dy * (x - mean)) / (v + eps)) / n)
// Floats narrower than f32 are computed in f32 throughout and rounded once.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Arithmetic of one batch_norm: tensors of the operand's shape and of one value per feature, all with storage elements.
struct Normalizer {
  LoopBuilder &l;
  Value operand;
  Type element;
  int64_t feature;
  double epsilon;

  FloatType work() const {
    auto floatType = cast<FloatType>(element);
    return floatType.getWidth() < 32 ? FloatType(Float32Type::get(element.getContext())) : floatType;
  }
  int64_t rank() const { return cast<RankedTensorType>(operand.getType()).getRank(); }
  AffineMap whole() const { return l.b.getMultiDimIdentityMap(rank()); }
  AffineMap perFeature() const { return AffineMap::get(rank(), 0, l.b.getAffineDimExpr(feature), l.b.getContext()); }

  /// What a body computes with: arguments are already `work` values.
  using Body = llvm::function_ref<SmallVector<Value>(LoopBuilder &, ValueRange)>;

  /// Elementwise over the operand's shape; `maps[i]` is whole() or perFeature(), `elements[i]` the operand's element type.
  Value elementwise(ValueRange inputs, ArrayRef<AffineMap> inputMaps, ArrayRef<Type> elements, Type resultElement, Body body) {
    SmallVector<AffineMap> maps(inputMaps);
    maps.push_back(whole());
    SmallVector<utils::IteratorType> iterators(rank(), utils::IteratorType::parallel);
    auto shape = cast<RankedTensorType>(operand.getType()).getShape();
    Value init = l.empty(RankedTensorType::get(shape, storageElementType(resultElement)), l.foldedDims(operand));
    return emit(inputs, init, maps, elements, iterators, resultElement, body);
  }

  /// Sum over all dimensions but the feature; a tensor of work values.
  Value sum(ValueRange inputs, ArrayRef<AffineMap> inputMaps, ArrayRef<Type> elements, Body body) {
    SmallVector<AffineMap> maps(inputMaps);
    maps.push_back(perFeature());
    SmallVector<utils::IteratorType> iterators(rank(), utils::IteratorType::reduction);
    iterators[feature] = utils::IteratorType::parallel;
    auto type = RankedTensorType::get(cast<RankedTensorType>(operand.getType()).getDimSize(feature), work());
    Value init = l.fill(l.zero(work()), l.empty(type, {l.foldedDim(operand, feature)}));
    return emit(inputs, init, maps, elements, iterators, work(), [&](LoopBuilder &in, ValueRange args) {
      Value term = body(in, args.drop_back())[0];
      return SmallVector<Value>{arith::AddFOp::create(in.b, in.loc, args.back(), term)};
    });
  }

  /// Elementwise over features.
  Value featurewise(ValueRange inputs, ArrayRef<Type> elements, Type resultElement, Body body) {
    auto shape = RankedTensorType::get(cast<RankedTensorType>(operand.getType()).getDimSize(feature),
                                       storageElementType(resultElement));
    Value init = l.empty(shape, {l.foldedDim(operand, feature)});
    SmallVector<AffineMap> maps(inputs.size() + 1, l.b.getMultiDimIdentityMap(1));
    return emit(inputs, init, maps, elements, {utils::IteratorType::parallel}, resultElement, body);
  }

  /// Number of elements per feature.
  Value count() {
    Value product = l.index(1);
    for (int64_t d = 0; d < rank(); ++d)
      if (d != feature)
        product = l.mul(product, l.dim(operand, d));
    Value wide = arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(), product);
    return arith::SIToFPOp::create(l.b, l.loc, work(), wide);
  }

  Value number(LoopBuilder &in, double value) {
    return arith::ConstantOp::create(in.b, in.loc, in.b.getFloatAttr(work(), value));
  }
  /// 1 / sqrt(variance + epsilon)
  Value inverseDeviation(LoopBuilder &in, Value variance) {
    Value root = math::SqrtOp::create(in.b, in.loc, arith::AddFOp::create(in.b, in.loc, variance, number(in, epsilon)));
    return arith::DivFOp::create(in.b, in.loc, number(in, 1.0), root);
  }

private:
  Value emit(ValueRange inputs, Value init, ArrayRef<AffineMap> maps, ArrayRef<Type> elements,
             ArrayRef<utils::IteratorType> iterators, Type resultElement, Body body) {
    auto emitBody = [&](OpBuilder &b, Location loc, ValueRange args) {
      LoopBuilder in(b, loc);
      SmallVector<Value> values;
      for (auto [arg, from] : llvm::zip(args.drop_back(), elements))
        values.push_back(convertElement(in, toCompute(b, loc, arg, from), from, work()));
      if (llvm::is_contained(iterators, utils::IteratorType::reduction))
        values.push_back(args.back());
      Value result = convertElement(in, body(in, values)[0], work(), resultElement);
      linalg::YieldOp::create(b, loc, toStorage(b, loc, result, resultElement));
    };
    return linalg::GenericOp::create(l.b, l.loc, init.getType(), inputs, init, maps, iterators, emitBody).getResult(0);
  }
};

/// scale * (x - mean) / sqrt(variance + epsilon) + offset
Value normalize(Normalizer &n, ValueRange inputs, ArrayRef<Type> elements) {
  SmallVector<AffineMap> maps{n.whole(), n.perFeature(), n.perFeature(), n.perFeature(), n.perFeature()};
  return n.elementwise(inputs, maps, elements, n.element, [&](LoopBuilder &in, ValueRange v) {
    Value centered = arith::SubFOp::create(in.b, in.loc, v[0], v[3]);
    Value factor = arith::MulFOp::create(in.b, in.loc, v[1], n.inverseDeviation(in, v[4]));
    Value scaled = arith::MulFOp::create(in.b, in.loc, centered, factor);
    return SmallVector<Value>{arith::AddFOp::create(in.b, in.loc, scaled, v[2])};
  });
}

struct BatchNormInferencePattern : OpConversionPattern<stablehlo::BatchNormInferenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BatchNormInferenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Normalizer n{l, adaptor.getOperand(), getElementTypeOrSelf(op.getType()), static_cast<int64_t>(op.getFeatureIndex()),
                 op.getEpsilon().convertToDouble()};
    SmallVector<Value> inputs{adaptor.getOperand(), adaptor.getScale(), adaptor.getOffset(), adaptor.getMean(),
                              adaptor.getVariance()};
    SmallVector<Type> elements(5, n.element);
    Value result = normalize(n, inputs, elements);
    rewriter.replaceOp(op, l.cast(result, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

struct BatchNormTrainingPattern : OpConversionPattern<stablehlo::BatchNormTrainingOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BatchNormTrainingOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Normalizer n{l, adaptor.getOperand(), getElementTypeOrSelf(op.getOperand().getType()),
                 static_cast<int64_t>(op.getFeatureIndex()), op.getEpsilon().convertToDouble()};
    Value operand = adaptor.getOperand(), count = n.count();
    Type element = n.element, work = n.work();
    auto overCount = [&](Value sum) {
      return n.featurewise(sum, work, work, [&](LoopBuilder &in, ValueRange v) {
        return SmallVector<Value>{arith::DivFOp::create(in.b, in.loc, v[0], count)};
      });
    };
    Value mean = overCount(n.sum(operand, n.whole(), element, [](LoopBuilder &, ValueRange v) {
      return SmallVector<Value>{v[0]};
    }));
    SmallVector<AffineMap> maps{n.whole(), n.perFeature()};
    SmallVector<Type> elements{element, work};
    Value variance = overCount(n.sum(ValueRange{operand, mean}, maps, elements, [](LoopBuilder &in, ValueRange v) {
      Value centered = arith::SubFOp::create(in.b, in.loc, v[0], v[1]);
      return SmallVector<Value>{arith::MulFOp::create(in.b, in.loc, centered, centered)};
    }));
    SmallVector<Value> inputs{operand, adaptor.getScale(), adaptor.getOffset(), mean, variance};
    SmallVector<Type> inputElements{element, element, element, work, work};
    SmallVector<Value> results{normalize(n, inputs, inputElements), convertTensor(l, mean, work, element),
                               convertTensor(l, variance, work, element)};
    for (auto [result, old] : llvm::zip(results, op->getResults()))
      result = l.cast(result, getTypeConverter()->convertType(old.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct BatchNormGradPattern : OpConversionPattern<stablehlo::BatchNormGradOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BatchNormGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Normalizer n{l, adaptor.getOperand(), getElementTypeOrSelf(op.getOperand().getType()),
                 static_cast<int64_t>(op.getFeatureIndex()), op.getEpsilon().convertToDouble()};
    Value operand = adaptor.getOperand(), grad = adaptor.getGradOutput(), count = n.count();
    Value mean = adaptor.getMean(), variance = adaptor.getVariance(), scale = adaptor.getScale();
    Type element = n.element, work = n.work();
    // sum(dy) is grad_offset; sum(dy * (x - mean)) leads to grad_scale.
    Value gradSum = n.sum(grad, n.whole(), element, [](LoopBuilder &, ValueRange v) { return SmallVector<Value>{v[0]}; });
    SmallVector<AffineMap> sumMaps{n.whole(), n.whole(), n.perFeature()};
    SmallVector<Type> three(3, element);
    Value crossSum = n.sum(ValueRange{grad, operand, mean}, sumMaps, three, [](LoopBuilder &in, ValueRange v) {
      Value centered = arith::SubFOp::create(in.b, in.loc, v[1], v[2]);
      return SmallVector<Value>{arith::MulFOp::create(in.b, in.loc, v[0], centered)};
    });
    SmallVector<Type> scaleElements{work, element};
    Value gradScale = n.featurewise(ValueRange{crossSum, variance}, scaleElements, element, [&](LoopBuilder &in, ValueRange v) {
      return SmallVector<Value>{arith::MulFOp::create(in.b, in.loc, v[0], n.inverseDeviation(in, v[1]))};
    });
    SmallVector<Value> inputs{grad, operand, mean, variance, scale, gradSum, crossSum};
    SmallVector<AffineMap> maps{n.whole(),      n.whole(),      n.perFeature(), n.perFeature(),
                                n.perFeature(), n.perFeature(), n.perFeature()};
    SmallVector<Type> elements{element, element, element, element, element, work, work};
    Value gradOperand = n.elementwise(inputs, maps, elements, element, [&](LoopBuilder &in, ValueRange v) {
      OpBuilder &b = in.b;
      Location loc = in.loc;
      Value inverse = n.inverseDeviation(in, v[3]);
      Value centered = arith::SubFOp::create(b, loc, v[1], v[2]);
      Value slope = arith::MulFOp::create(b, loc, arith::MulFOp::create(b, loc, v[6], inverse), inverse);
      Value shared = arith::AddFOp::create(b, loc, v[5], arith::MulFOp::create(b, loc, centered, slope));
      Value inner = arith::SubFOp::create(b, loc, v[0], arith::DivFOp::create(b, loc, shared, count));
      return SmallVector<Value>{arith::MulFOp::create(b, loc, arith::MulFOp::create(b, loc, v[4], inverse), inner)};
    });
    SmallVector<Value> results{gradOperand, gradScale, convertTensor(l, gradSum, work, element)};
    for (auto [result, old] : llvm::zip(results, op->getResults()))
      result = l.cast(result, getTypeConverter()->convertType(old.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateBatchNormPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BatchNormInferencePattern, BatchNormTrainingPattern, BatchNormGradPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering

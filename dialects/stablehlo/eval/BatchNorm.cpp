// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchNorm.cpp - batch_norm_inference, _training, _grad -------------===//
// The specification's formulas are computed per feature, in long double, and rounded once.
#include "dialects/stablehlo/eval/Interpreter.h"

#include <cmath>

using namespace mlir;

namespace millrace::eval {

namespace {

using Long = long double;

/// The feature of each element, and the number of elements of a feature.
struct Features {
  int64_t dimension, count, perFeature, stride;
  Features(const Tensor &operand, int64_t dimension)
      : dimension(dimension), count(operand.dim(dimension)), perFeature(count ? operand.size() / count : 0),
        stride(stridesOf(operand.getShape())[dimension]) {}
  int64_t of(int64_t linear) const { return linear / stride % count; }
};

llvm::Expected<Features> featuresOf(Call &call) {
  int64_t index = call.op->getAttrOfType<IntegerAttr>("feature_index").getInt();
  const Tensor &operand = call.in(0);
  if (index < 0 || index >= operand.rank()) return call.error("feature_index is out of range");
  Features features(operand, index);
  for (unsigned i = 1; i < call.numInputs(); ++i) {
    if (call.in(i).rank() == operand.rank() && call.in(i).getShape() == operand.getShape()) continue;
    if (call.in(i).size() != features.count) return call.error("expects one value per feature");
  }
  return features;
}

Long epsilonOf(Call &call) { return call.op->getAttrOfType<FloatAttr>("epsilon").getValueAsDouble(); }

template <typename Range>
Tensor rounded(RankedTensorType type, const Range &values) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  for (Long value : values) storeLongFloat(result.kind(), out, value), out += width;
  return result;
}

llvm::Error evalInference(Call &call) {
  llvm::Expected<Features> features = featuresOf(call);
  if (!features) return features.takeError();
  const Tensor &x = call.in(0), &scale = call.in(1), &offset = call.in(2), &mean = call.in(3), &variance = call.in(4);
  SmallVector<Long> y;
  Long epsilon = epsilonOf(call);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t f = features->of(i);
    y.push_back((x.getFloat(i) - Long(mean.getFloat(f))) / sqrtl(variance.getFloat(f) + epsilon) * scale.getFloat(f) + offset.getFloat(f));
  }
  call.push(rounded(call.typeWith(x.getShape()), y));
  return llvm::Error::success();
}

llvm::Error evalTraining(Call &call) {
  llvm::Expected<Features> features = featuresOf(call);
  if (!features) return features.takeError();
  const Tensor &x = call.in(0), &scale = call.in(1), &offset = call.in(2);
  SmallVector<Long> mean(features->count, 0), variance(features->count, 0), y;
  for (int64_t i = 0; i < x.size(); ++i) mean[features->of(i)] += x.getFloat(i);
  for (Long &m : mean) m /= features->perFeature;
  for (int64_t i = 0; i < x.size(); ++i) {
    Long centered = x.getFloat(i) - mean[features->of(i)];
    variance[features->of(i)] += centered * centered;
  }
  for (Long &v : variance) v /= features->perFeature;
  Long epsilon = epsilonOf(call);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t f = features->of(i);
    y.push_back((x.getFloat(i) - mean[f]) / sqrtl(variance[f] + epsilon) * scale.getFloat(f) + offset.getFloat(f));
  }
  call.push(rounded(call.typeWith(x.getShape()), y));
  call.push(rounded(call.typeWith({features->count}, 1), mean));
  call.push(rounded(call.typeWith({features->count}, 2), variance));
  return llvm::Error::success();
}

llvm::Error evalGrad(Call &call) {
  llvm::Expected<Features> features = featuresOf(call);
  if (!features) return features.takeError();
  const Tensor &x = call.in(0), &scale = call.in(1), &mean = call.in(2), &variance = call.in(3), &gradOutput = call.in(4);
  Long epsilon = epsilonOf(call), n = features->perFeature;
  SmallVector<Long> sumGrad(features->count, 0), sumGradCentered(features->count, 0), gradScale, gradOperand;
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t f = features->of(i);
    sumGrad[f] += gradOutput.getFloat(i);
    sumGradCentered[f] += gradOutput.getFloat(i) * (x.getFloat(i) - Long(mean.getFloat(f)));
  }
  for (int64_t f = 0; f < features->count; ++f) gradScale.push_back(sumGradCentered[f] / sqrtl(variance.getFloat(f) + epsilon));
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t f = features->of(i);
    Long v = variance.getFloat(f) + epsilon, centered = x.getFloat(i) - Long(mean.getFloat(f));
    gradOperand.push_back(scale.getFloat(f) / sqrtl(v) / n * (n * gradOutput.getFloat(i) - sumGrad[f] - centered * sumGradCentered[f] / v));
  }
  call.push(rounded(call.typeWith(x.getShape()), gradOperand));
  call.push(rounded(call.typeWith({features->count}, 1), gradScale));
  call.push(rounded(call.typeWith({features->count}, 2), sumGrad));
  return llvm::Error::success();
}

} // namespace

void addBatchNorm(Dispatch &dispatch) {
  dispatch.add("stablehlo.batch_norm_inference", evalInference, Quantization::Expressed);
  dispatch.add("stablehlo.batch_norm_training", evalTraining, Quantization::Expressed);
  dispatch.add("stablehlo.batch_norm_grad", evalGrad, Quantization::Expressed);
}

} // namespace millrace::eval

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Convolution.cpp - convolution and dynamic_conv ---------------------===//
// For every output position the window's positions in the dilated, padded input are multiplied by the (possibly reversed) kernel and summed over the
// input features of the group. Padding and holes are zeros that are multiplied like all elements, so that an infinite kernel element gives NaN there.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"
#include "dialects/stablehlo/eval/Lanes.h"

using namespace mlir;

namespace millrace::eval {

llvm::Error evalConvolution(Call &call, ArrayRef<std::pair<int64_t, int64_t>> padding) {
  const Tensor &lhs = call.in(0), &rhs = call.in(1);
  auto numbers = call.op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers");
  ArrayRef<int64_t> inputSpatial = numbers.getInputSpatialDimensions(), kernelSpatial = numbers.getKernelSpatialDimensions(),
                    outputSpatial = numbers.getOutputSpatialDimensions();
  size_t rank = inputSpatial.size();
  Shape ones(rank, 1);
  Shape strides = intsOf(call.op, "window_strides", ones), lhsDilation = intsOf(call.op, "lhs_dilation", ones),
        rhsDilation = intsOf(call.op, "rhs_dilation", ones);
  SmallVector<bool> reversal = boolsOf(call.op, "window_reversal", rank);
  int64_t featureGroups = call.op->getAttrOfType<IntegerAttr>("feature_group_count").getInt();
  int64_t batchGroups = call.op->getAttrOfType<IntegerAttr>("batch_group_count").getInt();
  if (padding.size() != rank || featureGroups < 1 || batchGroups < 1) return call.error("expects one padding per spatial dimension and positive group counts");

  int64_t batch = lhs.dim(numbers.getInputBatchDimension()), inFeatures = lhs.dim(numbers.getInputFeatureDimension());
  int64_t kernelIn = rhs.dim(numbers.getKernelInputFeatureDimension()), outFeatures = rhs.dim(numbers.getKernelOutputFeatureDimension());
  if (inFeatures != kernelIn * featureGroups || batch % batchGroups || outFeatures % featureGroups || outFeatures % batchGroups)
    return call.error("feature and batch sizes do not fit the group counts");

  Shape shape(lhs.rank(), 0), outSizes, window;
  shape[numbers.getOutputBatchDimension()] = batch / batchGroups;
  shape[numbers.getOutputFeatureDimension()] = outFeatures;
  for (size_t d = 0; d < rank; ++d) {
    if (strides[d] < 1 || lhsDilation[d] < 1 || rhsDilation[d] < 1) return call.error("expects positive strides and dilations");
    int64_t in = lhs.dim(inputSpatial[d]), kernel = rhs.dim(kernelSpatial[d]);
    int64_t padded = (in == 0 ? 0 : (in - 1) * lhsDilation[d] + 1) + padding[d].first + padding[d].second;
    int64_t dilatedKernel = kernel == 0 ? 0 : (kernel - 1) * rhsDilation[d] + 1;
    int64_t size = padded < dilatedKernel || padded <= 0 ? 0 : (padded - dilatedKernel) / strides[d] + 1;
    outSizes.push_back(size);
    window.push_back(kernel);
    shape[outputSpatial[d]] = size;
  }
  if (llvm::Error error = checkSize(call, shape, call.resultElementType())) return error;
  Tensor result(call.typeWith(shape));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Kind kind = result.kind();
  Shape lhsStrides = stridesOf(lhs.getShape()), rhsStrides = stridesOf(rhs.getShape());
  int64_t windowCount = numElements(window);
  int64_t featuresPerGroup = outFeatures / featureGroups, featuresPerBatchGroup = outFeatures / batchGroups;
  int64_t lhsFeatureStride = lhsStrides[numbers.getInputFeatureDimension()], rhsFeatureStride = rhsStrides[numbers.getKernelInputFeatureDimension()];

  withLane(kind, [&](auto *tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    auto a = lanesOf<T>(lhs), b = lanesOf<T>(rhs);
    forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t linear) {
      int64_t feature = index[numbers.getOutputFeatureDimension()], group = feature / featuresPerGroup;
      int64_t sample = index[numbers.getOutputBatchDimension()] + (feature / featuresPerBatchGroup) * (batch / batchGroups);
      int64_t lhsBase = sample * lhsStrides[numbers.getInputBatchDimension()] + group * kernelIn * lhsFeatureStride;
      int64_t rhsBase = feature * rhsStrides[numbers.getKernelOutputFeatureDimension()];
      T sum = T(0);
      Shape at(rank, 0);
      for (int64_t n = 0; n < windowCount; ++n, nextIndex(at, window)) {
        int64_t from = lhsBase, kernelFrom = rhsBase;
        bool inside = true;
        for (size_t d = 0; d < rank; ++d) {
          int64_t position = index[outputSpatial[d]] * strides[d] + at[d] * rhsDilation[d] - padding[d].first;
          inside = inside && position >= 0 && position % lhsDilation[d] == 0 && position / lhsDilation[d] < lhs.dim(inputSpatial[d]);
          from += position / lhsDilation[d] * lhsStrides[inputSpatial[d]];
          kernelFrom += (reversal[d] ? window[d] - 1 - at[d] : at[d]) * rhsStrides[kernelSpatial[d]];
        }
        for (int64_t c = 0; c < kernelIn; ++c)
          multiplyAdd(sum, inside ? T(a[from + c * lhsFeatureStride]) : T(0), b[kernelFrom + c * rhsFeatureStride]);
      }
      storeLane(kind, out + linear * width, sum);
    });
  });
  call.push(std::move(result));
  return llvm::Error::success();
}

static llvm::Error evalStaticConvolution(Call &call) {
  auto numbers = call.op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers");
  return evalConvolution(call, pairsOf(call.op, "padding", numbers.getInputSpatialDimensions().size()));
}

static llvm::Error evalDynamicConv(Call &call) {
  SmallVector<std::pair<int64_t, int64_t>> padding;
  Shape flat = toShape(call.in(2));
  for (size_t i = 0; i + 1 < flat.size(); i += 2) padding.push_back({flat[i], flat[i + 1]});
  return evalConvolution(call, padding);
}

void addConvolution(Dispatch &dispatch) {
  dispatch.add("stablehlo.convolution", evalStaticConvolution, Quantization::Expressed);
  dispatch.add("stablehlo.dynamic_conv", evalDynamicConv, Quantization::Expressed);
}

} // namespace millrace::eval

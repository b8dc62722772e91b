// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Quantized.cpp - quantize, dequantize and their operations ----------===//
// dequantize is (storage - zero_point) * scale. quantize is convert(round_nearest_even(clamp(storage_min, x / scale + zero_point, storage_max))), so
// that NaN becomes the integer 0, as in convert. Both are computed in the expressed type with a rounding per operation, as the specification writes
// them. Other operations on quantized tensors are dequantize -> operation -> quantize (Interpreter::runOp), or move stored values.
#include "dialects/stablehlo/eval/Interpreter.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include <cmath>

using namespace mlir;

namespace millrace::eval {

namespace {

/// The scale and zero point of each element: of the whole tensor, or by the index in the quantized dimension.
struct Parameters {
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  int64_t stride = 1, count = 1;

  Parameters(quant::QuantizedType type, ArrayRef<int64_t> shape) {
    if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type)) {
      scales.push_back(uniform.getScale());
      zeroPoints.push_back(uniform.getZeroPoint());
    } else if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
      scales.assign(perAxis.getScales().begin(), perAxis.getScales().end());
      zeroPoints.assign(perAxis.getZeroPoints().begin(), perAxis.getZeroPoints().end());
      int64_t dimension = perAxis.getQuantizedDimension();
      if (dimension < static_cast<int64_t>(shape.size())) {
        stride = stridesOf(shape)[dimension];
        count = static_cast<int64_t>(scales.size());
      }
    }
  }
  size_t at(int64_t linear) const { return count == 1 ? 0 : static_cast<size_t>(linear / stride % count); }
};

} // namespace

Tensor dequantize(const Tensor &x) {
  auto type = cast<quant::QuantizedType>(x.getElementType());
  Parameters parameters(type, x.getShape());
  Tensor result(RankedTensorType::get(x.getShape(), type.getExpressedType()));
  Kind kind = result.kind();
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  for (int64_t i = 0; i < x.size(); ++i) {
    size_t p = parameters.at(i);
    double difference = roundFloat(kind, static_cast<double>(x.getInt(i) - parameters.zeroPoints[p]));
    storeFloat(kind, out + i * width, difference * roundFloat(kind, parameters.scales[p]));
  }
  return result;
}

Tensor quantize(const Tensor &x, Type quantizedType) {
  auto type = cast<quant::QuantizedType>(quantizedType);
  Parameters parameters(type, x.getShape());
  Tensor result(RankedTensorType::get(x.getShape(), type));
  Kind expressed = *kindOf(type.getExpressedType());
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  auto round = [expressed](double value) { return roundFloat(expressed, value); };
  int64_t least = type.getStorageTypeMin(), most = type.getStorageTypeMax();
  for (int64_t i = 0; i < x.size(); ++i) {
    size_t p = parameters.at(i);
    double scaled = round(x.getFloat(i) / round(parameters.scales[p]));
    double shifted = round(scaled + round(static_cast<double>(parameters.zeroPoints[p])));
    int64_t value = 0;
    if (!std::isnan(shifted)) {
      double clamped = std::min(std::max(shifted, round(static_cast<double>(least))), round(static_cast<double>(most)));
      value = static_cast<int64_t>(std::nearbyint(clamped));
    }
    // A bound may have been rounded outwards, and 0 need not be between the bounds.
    storeInt(result.kind(), out + i * width, std::min(std::max(value, least), most));
  }
  return result;
}

static llvm::Error evalUniformQuantize(Call &call) {
  const Tensor &x = call.in(0);
  Tensor expressed = isa<quant::QuantizedType>(x.getElementType()) ? dequantize(x) : x;
  call.push(quantize(expressed, call.resultElementType()));
  return llvm::Error::success();
}

static llvm::Error evalUniformDequantize(Call &call) {
  if (!isa<quant::QuantizedType>(call.in(0).getElementType())) return call.error("expects a quantized operand");
  call.push(dequantize(call.in(0)));
  return llvm::Error::success();
}

void addQuantized(Dispatch &dispatch) {
  dispatch.add("stablehlo.uniform_quantize", evalUniformQuantize);
  dispatch.add("stablehlo.uniform_dequantize", evalUniformDequantize);
}

} // namespace millrace::eval

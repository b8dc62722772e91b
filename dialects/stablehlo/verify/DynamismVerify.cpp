// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismVerify.cpp - Constraints of dynamic operations -------------===//
#include "dialects/stablehlo/DynamismOps.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
namespace millrace::stablehlo {

static bool isQuantized(Type type) { return isa<quant::QuantizedType>(getElementTypeOrSelf(type)); }

static LogicalResult checkElementTypes(Location loc, Type operand, Type result) {
  if (isQuantized(operand) || isQuantized(result) || isCompatibleElementTypeForHloTypeInference(operand, result))
    return success();
  return emitOptionalError(loc, "expects operand and result to have compatible element type. Got: ", operand, " and ",
                           result);
}

/// Checks that a constant shape operand agrees with the result type.
static LogicalResult checkShapeOperand(Location loc, Value shape, Type result) {
  SmallVector<int64_t> sizes;
  if (failed(matchInts(shape, sizes)) || isCompatibleForHloTypeInference(ArrayRef<int64_t>(sizes), result))
    return success();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(sizes, os);
  return emitOptionalError(loc, "output shape [", text, "] is incompatible with return type of operation ", result);
}

/// Checks that data movement keeps quantization parameters.
static LogicalResult checkSameQuantization(Location loc, Type operand, Type result) {
  Type a = getElementTypeOrSelf(operand), b = getElementTypeOrSelf(result);
  if (isa<quant::UniformQuantizedType>(a) && isa<quant::UniformQuantizedType>(b) && a != b)
    return emitOptionalError(loc, "expect same quantization scale and zero_point but got ", operand, " vs ", result);
  auto axisA = dyn_cast<quant::UniformQuantizedPerAxisType>(a), axisB = dyn_cast<quant::UniformQuantizedPerAxisType>(b);
  if (axisA && axisB && (axisA.getScales() != axisB.getScales() || axisA.getZeroPoints() != axisB.getZeroPoints()))
    return emitOptionalError(loc, "expect same quantization scales and zero_points but got ", operand, " vs ", result);
  return success();
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  Location loc = getLoc();
  auto operandType = cast<RankedTensorType>(getOperand().getType());
  auto resultType = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  // (C1)
  if (failed(checkElementTypes(loc, operandType, resultType)))
    return failure();
  // (C2)
  if (int64_t(dims.size()) != operandType.getRank())
    return emitOptionalError(loc, "broadcast_dimensions size (", dims.size(), ") does not match operand rank (",
                             operandType.getRank(), ")");
  if (resultType.getRank() < operandType.getRank())
    return emitOptionalError(loc, "result rank (", resultType.getRank(), ") is less than operand rank (",
                             operandType.getRank(), ")");
  // (C4)
  if (!checks::isUnique(dims))
    return emitOptionalError(loc, "broadcast_dimensions should not have duplicates");
  for (auto [i, dim] : llvm::enumerate(dims)) {
    // (C3)
    if (dim < 0 || dim >= resultType.getRank())
      return emitOptionalError(loc, "broadcast_dimensions contains invalid value ", dim, " for result with rank ",
                               resultType.getRank());
    // (C5)
    int64_t size = operandType.getDimSize(i), resultSize = resultType.getDimSize(dim);
    if (size != 1 && !checks::dimsAgree(size, resultSize))
      return emitOptionalError(loc, "size of operand dimension ", i, " (", size,
                               ") is not compatible with size of result dimension ", dim, " (", resultSize, ")");
  }
  // (C7)
  if (failed(checkShapeOperand(loc, getOutputDimensions(), resultType)))
    return failure();
  if (cast<ShapedType>(getOutputDimensions().getType()).getDimSize(0) != resultType.getRank())
    return emitOptionalError(loc, "result should have a rank equal to the number of elements in output_dimensions");
  // (C8)..(C10)
  SmallVector<int64_t> hints(getKnownExpandingDimensions().value_or(ArrayRef<int64_t>()));
  llvm::append_range(hints, getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>()));
  if (!checks::isUnique(hints))
    return emitOptionalError(loc, "duplicate expansion hint for at least one operand dimension");
  for (int64_t dim : hints)
    if (dim < 0 || dim >= operandType.getRank())
      return emitOptionalError(loc, "hint for expanding dimension ", dim,
                               " does not refer to a valid operand dimension");
  // (C5) for a shape that only the shape operand has.
  if (SmallVector<int64_t> shape; succeeded(matchInts(getOutputDimensions(), shape)))
    for (auto [i, dim] : llvm::enumerate(dims)) {
      int64_t size = operandType.getDimSize(i);
      if (isStaticDimSize(size) && size != 1 && size != shape[dim])
        return emitOptionalError(loc, "size of operand dimension ", i, " (", size,
                                 ") is not equal to 1 or value of shape at index ", dim, " (", shape[dim], ")");
    }
  // (C6) Per-axis parameters are compared below, because a dimension of size 1 broadcasts its parameters.
  if (isa<quant::UniformQuantizedType>(operandType.getElementType()))
    return checkSameQuantization(loc, operandType, resultType);
  auto from = dyn_cast<quant::UniformQuantizedPerAxisType>(operandType.getElementType());
  auto to = dyn_cast<quant::UniformQuantizedPerAxisType>(resultType.getElementType());
  if (!to)
    return success();
  if (!from)
    return emitOptionalError(loc, "expects operand and result to have compatible element type. Got: ", operandType,
                             " and ", resultType);
  int32_t axis = from.getQuantizedDimension();
  if (axis >= int32_t(dims.size()) || to.getQuantizedDimension() != dims[axis])
    return emitOptionalError(loc, "result quantization_dimension ", to.getQuantizedDimension(),
                             " not same as broadcast_dimensions[", axis,
                             "] = ", axis < int32_t(dims.size()) ? dims[axis] : -1);
  if (operandType.getDimSize(axis) == 1)
    for (size_t i = 0; i != to.getScales().size(); ++i) {
      if (to.getScales()[i] != from.getScales()[0])
        return emitOptionalError(loc, "mismatch result scale ", i, " (", to.getScales()[i], ") and operand scale 0 (",
                                 from.getScales()[0], ")");
      if (to.getZeroPoints()[i] != from.getZeroPoints()[0])
        return emitOptionalError(loc, "mismatch result zero_point ", i, " (", to.getZeroPoints()[i],
                                 ") and operand zero_point 0 (", from.getZeroPoints()[0], ")");
    }
  return success();
}

LogicalResult DynamicIotaOp::verify() {
  auto type = cast<ShapedType>(getType());
  // (C1)
  if (int64_t(getIotaDimension()) >= type.getRank())
    return emitOptionalError(getLoc(), "iota dimension cannot go beyond the output rank.");
  // (C2)
  if (cast<ShapedType>(getOutputShape().getType()).getDimSize(0) != type.getRank())
    return emitOptionalError(getLoc(), "result should have a rank equal to the number of elements in output_shape");
  return checkShapeOperand(getLoc(), getOutputShape(), type);
}

LogicalResult DynamicPadOp::verify() {
  auto operandType = cast<RankedTensorType>(getOperand().getType());
  auto resultType = cast<RankedTensorType>(getType());
  // (C2)
  int64_t amounts = cast<RankedTensorType>(getEdgePaddingLow().getType()).getDimSize(0);
  if (amounts != operandType.getRank())
    return emitOptionalError(getLoc(), "padding operands size (", amounts, ") must match operand rank (",
                             operandType.getRank(), ")");
  // (C3)
  SmallVector<int64_t> low, high, interior;
  if (failed(matchInts(getInteriorPadding(), interior)))
    return success();
  if (llvm::any_of(interior, [](int64_t i) { return i < 0; }))
    return emitOptionalError(getLoc(), "interior_padding must be non-negative, but got ", interior);
  // (C4)
  if (failed(matchInts(getEdgePaddingLow(), low)) || failed(matchInts(getEdgePaddingHigh(), high)))
    return success();
  for (int64_t i = 0; i != operandType.getRank(); ++i) {
    int64_t size = operandType.getDimSize(i);
    if (isDynamicDimSize(size) || resultType.isDynamicDim(i))
      continue;
    int64_t want = size + low[i] + std::max<int64_t>(size - 1, 0) * interior[i] + high[i];
    if (resultType.getDimSize(i) != want)
      return emitOptionalError(getLoc(), "expected output dimension at index ", i, " to equal ", want, ", but got ",
                               resultType.getDimSize(i));
  }
  return success();
}

LogicalResult DynamicReshapeOp::verify() {
  Location loc = getLoc();
  auto operandType = cast<RankedTensorType>(getOperand().getType());
  auto resultType = cast<RankedTensorType>(getType());
  // (C1)
  if (failed(checkElementTypes(loc, operandType, resultType)))
    return failure();
  // (C2)
  if (resultType.hasStaticShape() && operandType.hasStaticShape() &&
      resultType.getNumElements() != operandType.getNumElements())
    return emitOptionalError(loc, "number of output elements (", resultType.getNumElements(),
                             ") doesn't match expected number of elements (", operandType.getNumElements(), ")");
  // (C4)
  if (failed(checkShapeOperand(loc, getOutputShape(), resultType)))
    return failure();
  if (cast<ShapedType>(getOutputShape().getType()).getDimSize(0) != resultType.getRank())
    return emitOptionalError(loc, "result should have a rank equal to the number of elements in output_shape");
  if (SmallVector<int64_t> shape; operandType.hasStaticShape() && succeeded(matchInts(getOutputShape(), shape))) {
    int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
    if (operandType.getNumElements() != count)
      return emitOptionalError(loc, "output_shape is incompatible with input type of operation: input has ",
                               operandType.getNumElements(), " elements, but output_shape has ", count);
  }
  // (C3)
  if (failed(checkSameQuantization(loc, operandType, resultType)))
    return failure();
  auto from = dyn_cast<quant::UniformQuantizedPerAxisType>(operandType.getElementType());
  auto to = dyn_cast<quant::UniformQuantizedPerAxisType>(resultType.getElementType());
  if (!from || !to)
    return success();
  int32_t fromAxis = from.getQuantizedDimension(), toAxis = to.getQuantizedDimension();
  if (fromAxis >= operandType.getRank() || toAxis >= resultType.getRank())
    return emitOptionalError(loc, "expects quantization dimensions of operand and result below their ranks, but got ",
                             fromAxis, " and ", toAxis);
  if (!checks::dimsAgree(operandType.getDimSize(fromAxis), resultType.getDimSize(toAxis)))
    return emitOptionalError(loc, "expect same quantization dimension size for operand and result ", operandType,
                             " and ", resultType);
  if (operandType.hasStaticShape() && resultType.hasStaticShape()) {
    auto product = [](ArrayRef<int64_t> dims) {
      return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<int64_t>());
    };
    int64_t before = product(operandType.getShape().take_front(fromAxis));
    int64_t after = product(resultType.getShape().take_front(toAxis));
    if (before != after)
      return emitOptionalError(loc, "product of dimensions before quantization dimension must match between operand "
                                    "and result for ",
                               before, " and ", after);
  }
  return success();
}

LogicalResult RealDynamicSliceOp::verify() {
  int64_t rank = cast<RankedTensorType>(getOperand().getType()).getRank();
  auto check = [&](Value vector, StringRef name) -> LogicalResult {
    int64_t size = cast<RankedTensorType>(vector.getType()).getDimSize(0);
    if (isDynamicDimSize(size) || size == rank)
      return success();
    return emitOptionalError(getLoc(), "has mismatched number of operand rank (", rank, ") and ", name, " size (", size,
                             ")");
  };
  if (failed(check(getStartIndices(), "start_indices")) || failed(check(getLimitIndices(), "limit_indices")) ||
      failed(check(getStrides(), "strides")))
    return failure();
  return success();
}

} // namespace millrace::stablehlo

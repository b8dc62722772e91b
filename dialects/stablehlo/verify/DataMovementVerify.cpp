// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementVerify.cpp - Constraints of data movement ops ----------===//
// The labels C1.. are those of the StableHLO specification.
#include "dialects/stablehlo/DataMovementOps.h"
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "llvm/ADT/SmallSet.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

static bool hasDuplicates(ArrayRef<int64_t> values) {
  llvm::SmallSet<int64_t, 8> seen;
  return llvm::any_of(values, [&](int64_t value) { return !seen.insert(value).second; });
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() == 0)
    return emitOpError() << "does not support scalars.";
  // (C1)
  if (static_cast<int64_t>(getIotaDimension()) >= type.getRank())
    return emitOpError() << "iota dimension cannot go beyond the output rank.";
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), result = cast<RankedTensorType>(getType());
  int64_t rank = operand.getRank() + getBroadcastSizes().size();
  if (result.getRank() != rank)
    return emitOpError() << "result rank (" << result.getRank() << ") does not match operand rank ("
                         << operand.getRank() << ") plus size of broadcast_sizes (" << getBroadcastSizes().size()
                         << ")";
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), result = cast<RankedTensorType>(getType());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  // (C2)
  if (static_cast<int64_t>(dims.size()) != operand.getRank())
    return emitOpError() << "broadcast_dimensions size (" << dims.size() << ") does not match operand rank ("
                         << operand.getRank() << ")";
  // (C4)
  if (hasDuplicates(dims))
    return emitOpError() << "broadcast_dimensions should not have duplicates";
  for (auto [d, resultDim] : llvm::enumerate(dims)) {
    // (C3)
    if (resultDim < 0 || resultDim >= result.getRank())
      return emitOpError() << "broadcast_dimensions contains invalid value " << resultDim << " for result with rank "
                           << result.getRank();
    int64_t size = operand.getDimSize(d), resultSize = result.getDimSize(resultDim);
    // (C5)
    if (isStaticDimSize(size) && size != 1 && size != resultSize)
      return emitOpError() << "size of operand dimension " << d << " (" << size
                           << ") is not equal to 1 or size of result dimension " << resultDim << " ("
                           << dimSizeToString(resultSize) << ")";
  }
  // (C6)
  auto operandAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(operand.getElementType());
  auto resultAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(result.getElementType());
  if (!operandAxis || !resultAxis)
    return success();
  // MLIR's quantized type does not know the tensor's rank.
  if (operandAxis.getQuantizedDimension() >= operand.getRank())
    return emitOpError() << "expects quantization dimension of operand to be in range [0, " << operand.getRank()
                         << "), but got " << operandAxis.getQuantizedDimension();
  int64_t axis = operandAxis.getQuantizedDimension(), expected = dims[axis];
  if (resultAxis.getQuantizedDimension() != expected)
    return emitOpError() << "result quantization_dimension " << resultAxis.getQuantizedDimension()
                         << " not same as broadcast_dimensions[operand quantization_dimension] (" << expected << ")";
  if (operand.getDimSize(axis) == 1) {
    bool same = llvm::all_of(resultAxis.getScales(), [&](double s) { return s == operandAxis.getScales()[0]; }) &&
                llvm::all_of(resultAxis.getZeroPoints(),
                             [&](int64_t z) { return z == operandAxis.getZeroPoints()[0]; });
    if (!same)
      return emitOpError() << "mismatch result scale or zero_point with the only one of the operand";
  } else if (operandAxis.getScales() != resultAxis.getScales() ||
             operandAxis.getZeroPoints() != resultAxis.getZeroPoints()) {
    return emitOpError() << "mismatch result scales or zero_points with those of the operand";
  }
  return success();
}

/// Returns the product of sizes, or nothing if one is dynamic.
static std::optional<int64_t> elementCount(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (isDynamicDimSize(size))
      return std::nullopt;
    count *= size;
  }
  return count;
}

LogicalResult ReshapeOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), result = cast<RankedTensorType>(getType());
  auto operandCount = elementCount(operand.getShape()), resultCount = elementCount(result.getShape());
  // (C2)
  if (operandCount && resultCount && *operandCount != *resultCount)
    return emitOpError() << "number of output elements (" << *resultCount
                         << ") doesn't match expected number of elements (" << *operandCount << ")";
  // (C3)
  auto operandAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(operand.getElementType());
  auto resultAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(result.getElementType());
  if (!operandAxis || !resultAxis)
    return success();
  int64_t from = operandAxis.getQuantizedDimension(), to = resultAxis.getQuantizedDimension();
  if (from >= operand.getRank() || to >= result.getRank())
    return emitOpError() << "expects quantization dimensions of operand and result to be in range [0, "
                         << operand.getRank() << ") and [0, " << result.getRank() << "), but got " << from << " and " << to;
  int64_t fromSize = operand.getDimSize(from), toSize = result.getDimSize(to);
  if (isStaticDimSize(fromSize) && isStaticDimSize(toSize) && fromSize != toSize)
    return emitOpError() << "expect quantization dimension size of operand and result to be same but got " << fromSize
                         << " and " << toSize;
  auto before = elementCount(operand.getShape().take_front(from)),
       resultBefore = elementCount(result.getShape().take_front(to));
  if (before && resultBefore && *before != *resultBefore)
    return emitOpError() << "product of dimensions before quantization dimension must match between operand and "
                            "result but got "
                         << *before << " and " << *resultBefore;
  return success();
}

LogicalResult ReverseOp::verify() {
  int64_t rank = cast<RankedTensorType>(getOperand().getType()).getRank();
  // (C2)
  if (hasDuplicates(getDimensions()))
    return emitOpError() << "dimensions should be unique. Got: " << getDimensions();
  // (C3)
  for (int64_t dim : getDimensions()) {
    if (dim < 0)
      return emitOpError() << "all dimensions should be non-negative. Got dimension: " << dim << ".";
    if (dim >= rank)
      return emitOpError() << "all dimensions should be between [0, " << rank << "). Got dimension: " << dim << ".";
  }
  return success();
}

} // namespace millrace::stablehlo

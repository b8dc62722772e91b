// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementwiseVerify.cpp - Constraints of elementwise ops -------------===//
// The labels C1.. are those of the StableHLO specification.
#include "dialects/stablehlo/ElementwiseOps.h"
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

static unsigned bitWidth(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * bitWidth(complex.getElementType());
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return quantized.getStorageTypeIntegralWidth();
  return type.getIntOrFloatBitWidth();
}

LogicalResult AddOp::verify() {
  Type lhs = getElementTypeOrSelf(getLhs()), rhs = getElementTypeOrSelf(getRhs());
  Type result = getElementTypeOrSelf(getResult());
  auto lhsAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(lhs);
  auto rhsAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs);
  auto resultAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(result);
  if (!resultAxis)
    return success();
  // (C6), (C7): per-axis operands are quantized along the axis of the result.
  if (lhsAxis && lhsAxis.getQuantizedDimension() != resultAxis.getQuantizedDimension())
    return emitOpError("quantization_dimension of lhs and result are not same ")
           << lhs << " vs " << result;
  if (rhsAxis && rhsAxis.getQuantizedDimension() != resultAxis.getQuantizedDimension())
    return emitOpError("quantization_dimension of rhs and result are not same ")
           << rhs << " vs " << result;
  return success();
}

LogicalResult BitcastConvertOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), result = cast<RankedTensorType>(getType());
  Type from = operand.getElementType(), to = result.getElementType();
  // (C2)
  if (isa<ComplexType>(from) != isa<ComplexType>(to))
    return emitOpError() << "cannot convert between real and complex types, but got: " << operand << " and " << result;
  unsigned fromWidth = bitWidth(from), toWidth = bitWidth(to);
  // (C1) The tensor of the narrower elements has a further dimension that counts them.
  bool narrows = toWidth < fromWidth;
  RankedTensorType wide = narrows ? operand : result, narrow = narrows ? result : operand;
  int64_t ratio = narrows ? fromWidth / toWidth : toWidth / fromWidth;
  int64_t expectedRank = wide.getRank() + (fromWidth == toWidth ? 0 : 1);
  if (narrow.getRank() != expectedRank)
    return emitOpError() << "rank of smaller element type (" << narrow.getRank()
                         << ") should be " << (expectedRank == wide.getRank() ? "equal to" : "1 more than")
                         << " rank of larger element type (" << wide.getRank() << "), but " << narrow.getRank()
                         << " != " << wide.getRank() << (expectedRank == wide.getRank() ? "." : " + 1.");
  for (int64_t dim = 0; dim < wide.getRank(); ++dim) {
    int64_t a = operand.getDimSize(dim), b = result.getDimSize(dim);
    if (isStaticDimSize(a) && isStaticDimSize(b) && a != b)
      return emitOpError() << "operand and result shapes must match except for the innermost dimension of the shape "
                              "with the smaller element type. Got: "
                           << operand << " and " << result << ".";
  }
  if (fromWidth == toWidth)
    return success();
  int64_t last = narrow.getShape().back();
  if (isStaticDimSize(last) && last != ratio)
    return emitOpError() << "requires compatible bit widths. Got: " << operand << " and " << result << ", but "
                         << std::min(fromWidth, toWidth) << " * " << last << " != " << std::max(fromWidth, toWidth)
                         << ".";
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  // (C2)
  if (static_cast<int32_t>(getExponentBits()) < 1)
    return emitOpError() << "exponent_bits must be at least 1.";
  // (C3)
  if (static_cast<int32_t>(getMantissaBits()) < 0)
    return emitOpError() << "mantissa_bits must be at least 0.";
  return success();
}

LogicalResult UniformQuantizeOp::verify() {
  Type operand = getElementTypeOrSelf(getOperand());
  if (auto quantized = dyn_cast<quant::QuantizedType>(operand))
    operand = quantized.getExpressedType();
  Type expressed = cast<quant::QuantizedType>(getElementTypeOrSelf(getResult())).getExpressedType();
  // (C2)
  if (operand != expressed)
    return emitOpError() << "Expressed type of result expected to be " << operand << ", but got " << expressed;
  return success();
}

} // namespace millrace::stablehlo

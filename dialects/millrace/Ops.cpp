// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.cpp - The compiler's own operation -----------------------------===//
#include "dialects/millrace/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace millrace {

/// Returns the bytes of an element in a buffer; nothing for types other than numbers.
static std::optional<int64_t> bytesOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    std::optional<int64_t> part = bytesOf(complex.getElementType());
    return part ? std::optional(2 * *part) : std::nullopt;
  }
  if (!element.isIntOrFloat())
    return std::nullopt;
  return (int64_t(element.getIntOrFloatBitWidth()) + 7) / 8;
}

LogicalResult AliasOp::verify() {
  int64_t bytes[2];
  const RankedTensorType types[2] = {cast<RankedTensorType>(getOperand().getType()), cast<RankedTensorType>(getResult().getType())};
  for (int i = 0; i < 2; ++i) {
    std::optional<int64_t> each = bytesOf(types[i].getElementType());
    if (!each)
      return emitOpError("(C1) expects elements that are integers, floats or complex numbers, but got ") << types[i];
    bytes[i] = *each * types[i].getNumElements();
  }
  if (bytes[0] != bytes[1])
    return emitOpError("(C2) expects a result of ") << bytes[0] << " bytes, as the operand " << types[0] << ", but got " << types[1] << " of "
                                                   << bytes[1] << " bytes";
  return success();
}

OpFoldResult AliasOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<AliasOp>();
  return inner && inner.getOperand().getType() == getResult().getType() ? inner.getOperand() : OpFoldResult();
}

} // namespace millrace

#define GET_OP_CLASSES
#include "dialects/millrace/Ops.cpp.inc"

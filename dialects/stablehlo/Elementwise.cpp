// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.cpp - Recognize elementwise operations ------------------===//
#include "dialects/stablehlo/Elementwise.h"

#include "dialects/stablehlo/DataMovementOps.h"
#include "dialects/stablehlo/ElementwiseOps.h"

using namespace mlir;

namespace millrace::stablehlo {

bool isElementwise(Operation *op) {
  if (auto convert = dyn_cast<BitcastConvertOp>(op)) {
    auto from = dyn_cast<RankedTensorType>(convert.getOperand().getType()), to = dyn_cast<RankedTensorType>(convert.getType());
    return from && to && from.getShape() == to.getShape();
  }
  return op->hasTrait<OpTrait::Elementwise>() || isa<SelectOp, ClampOp>(op);
}

} // namespace millrace::stablehlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiner.cpp - Recognize regions of one operation -------------------===//
#include "dialects/stablehlo/Combiner.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::stablehlo {

Operation *combinerOf(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 2 || !llvm::hasNItems(region.front(), 2))
    return nullptr;
  Operation &combine = region.front().front();
  Value x = region.getArgument(0), y = region.getArgument(1);
  bool takesBoth = combine.getNumOperands() == 2 && combine.getNumResults() == 1 &&
                   ((combine.getOperand(0) == x && combine.getOperand(1) == y) || (combine.getOperand(0) == y && combine.getOperand(1) == x));
  return takesBoth && region.front().getTerminator()->getOperands() == combine.getResults() ? &combine : nullptr;
}

} // namespace millrace::stablehlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArrayUpdates.cpp - Recognize in-place updates of arrays ------------===//
#include "passes/loops/ArrayUpdates.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::loops {

/// Returns the array that result `index` of an if or case updates; null if branches update different ones or compute it from scratch.
static Value updatedByBranches(Operation *op, unsigned index) {
  Value array;
  for (Region &region : op->getRegions()) {
    Value first = firstVersion(region.front().getTerminator()->getOperand(index), &region.front());
    if (!first || (array && first != array))
      return {};
    array = first;
  }
  return array;
}

Value updatedValue(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
    return update.getOperand();
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return scatter.getInputs()[index];
  if (auto loop = dyn_cast<WhileOp>(op)) {
    Block &body = loop.getBody().front();
    return firstVersion(body.getTerminator()->getOperand(index), &body) == body.getArgument(index) ? loop->getOperand(index) : Value();
  }
  return isa<IfOp, CaseOp>(op) ? updatedByBranches(op, index) : Value();
}

Value firstVersion(Value value, Block *block) {
  while (value && value.getDefiningOp() && value.getParentBlock() == block)
    value = updatedValue(value);
  return value;
}

bool updates(Operation *op, Value array) {
  return isa<DynamicUpdateSliceOp, ScatterOp, WhileOp, IfOp, CaseOp>(op) &&
         llvm::any_of(op->getResults(), [&](Value result) { return result.getType() == array.getType() && updatedValue(result) == array; });
}

} // namespace millrace::loops

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopStates.cpp - Decide which loop states share memory -------------===//
#include "lowering/program/LoopStates.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::lowering {

Value firstVersion(Value value, Block *block, UpdatedBy updatedBy) {
  while (value && value.getDefiningOp() && value.getParentBlock() == block)
    value = updatedBy(value);
  return value;
}

Value updatedByBranches(OpResult made, UpdatedBy updatedBy) {
  Value array;
  for (Region &region : made.getOwner()->getRegions()) {
    Value first = firstVersion(region.front().getTerminator()->getOperand(made.getResultNumber()), &region.front(), updatedBy);
    if (!first || (array && first != array))
      return {};
    array = first;
  }
  return array;
}

SmallVector<std::optional<unsigned>> takenStates(stablehlo::WhileOp loop, UpdatedBy updatedBy, llvm::function_ref<bool(BlockArgument, Value)> isInPlace) {
  Block &body = loop.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<std::optional<unsigned>> taken(loop->getNumOperands());
  SmallVector<unsigned> takers(loop->getNumOperands());
  auto isFixed = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  };
  for (auto [index, next] : llvm::enumerate(yield->getOperands())) {
    if (!isFixed(next) || !isFixed(loop->getOperand(index)))
      continue;
    auto first = dyn_cast_or_null<BlockArgument>(firstVersion(next, &body, updatedBy));
    if (!first || first.getOwner() != &body || first.getArgNumber() == index)
      continue;
    ++takers[first.getArgNumber()];
    bool isKept = yield->getOperand(first.getArgNumber()) == first;
    if (!isKept && first.getType() == body.getArgument(index).getType() && loop->getOperand(first.getArgNumber()).getType() == first.getType() &&
        isInPlace(first, next))
      taken[index] = first.getArgNumber();
  }
  for (std::optional<unsigned> &other : taken)
    if (other && takers[*other] > 1)
      other.reset();
  return taken;
}

} // namespace millrace::lowering

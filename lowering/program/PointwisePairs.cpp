// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointwisePairs.cpp - Find results that may overwrite an operand ----===//
#include "lowering/program/PointwisePairs.h"

#include "dialects/stablehlo/Elementwise.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::lowering {

/// Returns all values computed from `argument`; empty if an element of it contributes to an element at another position.
static llvm::SetVector<Value> computedFrom(BlockArgument argument) {
  auto shape = cast<RankedTensorType>(argument.getType()).getShape();
  llvm::SetVector<Value> found;
  found.insert(argument);
  for (size_t next = 0; next < found.size(); ++next)
    for (Operation *user : found[next].getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (!stablehlo::isElementwise(user) || user->getBlock() != argument.getOwner())
        return {};
      for (Value result : user->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (!type || type.getShape() != shape)
          return {};
        found.insert(result);
      }
    }
  return found;
}

std::vector<std::pair<unsigned, unsigned>> pointwisePairs(func::FuncOp kernel) {
  std::vector<std::pair<unsigned, unsigned>> pairs;
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape())
      continue;
    llvm::SetVector<Value> computed = computedFrom(argument);
    for (OpOperand &result : body.getTerminator()->getOpOperands())
      if (result.get() != argument && result.get().getType() == type && computed.contains(result.get()))
        pairs.emplace_back(argument.getArgNumber(), result.getOperandNumber());
  }
  return pairs;
}

} // namespace millrace::lowering

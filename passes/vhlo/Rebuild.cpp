// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rebuild.cpp - Change a program's operations in place ---------------===//
#include "passes/vhlo/Rebuild.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace millrace::vhlo {

LogicalResult retypeValues(ModuleOp module, function_ref<Type(Type, Operation *)> convert,
                           function_ref<bool(Operation *)> mayChange) {
  DenseMap<Type, Type> known;
  SmallVector<std::pair<Value, Type>> changes;
  auto plan = [&](Value value, Operation *owner) {
    Type &converted = known[value.getType()];
    if (!converted && !(converted = convert(value.getType(), owner)))
      return false;
    if (converted != value.getType())
      changes.emplace_back(value, converted);
    return true;
  };
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (mayChange && !mayChange(op))
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (!plan(result, op))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (!plan(argument, op))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto [value, type] : changes)
    value.setType(type);
  return success();
}

Operation *rebuild(Operation *op, StringRef name, ValueRange operands, const NamedAttrList &attributes) {
  OperationState state(op->getLoc(), name, operands, op->getResultTypes(), attributes);
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *replacement = OpBuilder(op).create(state);
  for (auto [from, to] : llvm::zip(op->getRegions(), replacement->getRegions()))
    to.takeBody(from);
  op->replaceAllUsesWith(replacement);
  op->erase();
  return replacement;
}

void sortUses(ModuleOp module) {
  // Setting an operand puts its use in front of the list, which is where a parser puts it.
  module.walk<WalkOrder::PreOrder>([](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(operand.get());
  });
}

} // namespace millrace::vhlo

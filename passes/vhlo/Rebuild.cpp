// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rebuild.cpp - Change a program's operations in place ---------------===//
#include "passes/vhlo/Rebuild.h"

#include "dialects/vhlo/Dialect.h"
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
  return replacement;
}

void replace(Operation *op, Operation *replacement) {
  op->replaceAllUsesWith(replacement);
  op->erase();
}

void orderUses(ModuleOp module) {
  // Setting an operand puts its use at the front of the list, as a parser does.
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(operand.get());
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
      casts.push_back(cast);
  });
  // Upstream creates the casts from portable values last, and those to portable values twice, the second for the first use.
  for (UnrealizedConversionCastOp cast : casts)
    for (OpOperand &operand : cast->getOpOperands())
      if (isVhlo(operand.get().getType()))
        operand.set(operand.get());
  for (UnrealizedConversionCastOp cast : casts)
    for (Value result : cast.getResults())
      if (isVhlo(result.getType())) {
        SmallVector<OpOperand *> uses(llvm::make_pointer_range(result.getUses()));
        for (OpOperand *use : uses)
          use->set(result);
      }
}

} // namespace millrace::vhlo

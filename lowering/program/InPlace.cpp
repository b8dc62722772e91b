// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InPlace.cpp - Which values share the memory of those they replace ---===//
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/FunctionBuilder.h"
#include "passes/fusion/FusionPolicy.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::runtime;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {

bool FunctionBuilder::isStartOfUpdates(OpOperand &use) const {
  if (auto loop = dyn_cast<shlo::WhileOp>(use.getOwner()))
    return loop.getBody().front().getTerminator()->getOperand(use.getOperandNumber()) !=
           loop.getBody().front().getArgument(use.getOperandNumber());
  auto call = dyn_cast<func::CallOp>(use.getOwner());
  auto kernel = call ? context.kernels.find(call.getCallee()) : context.kernels.end();
  return kernel != context.kernels.end() &&
         llvm::any_of(kernel->second.inPlace, [&](auto pair) { return pair.first == use.getOperandNumber(); });
}

/// The kernel of `user` is the only reader of `value`, which a kernel made in the same block: its buffer may change.
static bool diesAt(Value value, func::CallOp user) {
  auto maker = value.getDefiningOp<func::CallOp>();
  return maker && value.hasOneUse() && maker->getBlock() == user->getBlock();
}

SmallVector<SlotId> FunctionBuilder::prepareInPlace(func::CallOp call, const KernelSummary &summary) {
  SmallVector<SlotId> updated(call.getNumOperands(), kNone);
  for (auto [operandIndex, resultIndex] : summary.inPlace) {
    Value operand = call.getOperand(operandIndex), opResult = call.getResult(resultIndex);
    auto wanted = preferred.find(opResult);
    SlotId target;
    if (wanted != preferred.end())
      target = wanted->second;
    else if (diesAt(operand, call) && result.slots[use(operand)].kind == Slot::Kind::Arena)
      target = use(operand);
    else
      target = slotFor(opResult);
    start(operand, target, call.getLoc());
    preferred[opResult] = updated[operandIndex] = target;
  }
  return updated;
}

Operation *FunctionBuilder::lastRead(Value value, Operation *user) {
  Operation *here = value.getParentBlock()->findAncestorOpInBlock(*user);
  if (isa<shlo::AsyncStartOp>(here) && !here->use_empty())
    return *here->user_begin();
  return here;
}

Value FunctionBuilder::updatedBy(Value value) const {
  auto made = dyn_cast<OpResult>(value);
  if (!made)
    return {};
  if (auto loop = dyn_cast<shlo::WhileOp>(made.getOwner())) {
    Block &body = loop.getBody().front();
    unsigned index = made.getResultNumber();
    bool isUpdated = isTensor(value) && cast<RankedTensorType>(value.getType()).hasStaticShape() &&
                     !updatesOf(body.getArgument(index), body.getTerminator()->getOperand(index)).empty();
    return isUpdated ? loop->getOperand(index) : Value();
  }
  auto call = dyn_cast<func::CallOp>(made.getOwner());
  auto kernel = call ? context.kernels.find(call.getCallee()) : context.kernels.end();
  if (kernel == context.kernels.end())
    return {};
  for (auto [operandIndex, resultIndex] : kernel->second.inPlace)
    if (resultIndex == made.getResultNumber())
      return call.getOperand(operandIndex);
  return {};
}

SmallVector<Value> FunctionBuilder::updatesOf(BlockArgument state, Value value) const {
  SmallVector<Value> updates{value};
  while (true) {
    Operation *maker = updates.back().getDefiningOp();
    Value updated = maker && maker->getBlock() == state.getOwner() ? updatedBy(updates.back()) : Value();
    if (!updated)
      return {};
    if (updated != state) {
      if (!updated.hasOneUse() || !cast<RankedTensorType>(updated.getType()).hasStaticShape())
        return {};
      updates.push_back(updated);
      continue;
    }
    bool isLastReader = llvm::count(maker->getOperands(), state) == 1 && llvm::all_of(state.getUsers(), [&](Operation *user) {
      Operation *here = lastRead(state, user);
      return user == maker || (here != maker && here->isBeforeInBlock(maker) && !fusion::isAlias(user));
    });
    return isLastReader ? updates : SmallVector<Value>();
  }
}

void FunctionBuilder::preferUpdates(Value value, SlotId slot) {
  for (Value updated; (updated = updatedBy(value)); value = updated) {
    Operation *maker = updated.getDefiningOp();
    auto call = dyn_cast_or_null<func::CallOp>(maker);
    bool isMadeForIt = updated.hasOneUse() && maker && maker->getBlock() == value.getDefiningOp()->getBlock() &&
                       cast<RankedTensorType>(updated.getType()).hasStaticShape() &&
                       (isa<shlo::WhileOp>(maker) || (call && context.kernels.contains(call.getCallee())));
    if (!isMadeForIt || !preferred.try_emplace(updated, slot).second)
      return;
  }
}

void FunctionBuilder::planReplacement(BlockArgument argument, Value value, SlotId target) {
  if (preferred.contains(value) || copiedWhenMade.contains(value))
    return;
  if (SmallVector<Value> updates = updatesOf(argument, value); !updates.empty()) {
    for (Value update : updates)
      preferred[update] = target;
    return;
  }
  auto call = value.getDefiningOp<func::CallOp>();
  if (!call || !context.kernels.contains(call.getCallee()))
    return;
  bool isRead = false;
  for (Operation *user : argument.getUsers()) {
    Operation *here = lastRead(argument, user);
    if (fusion::isAlias(user) || user->hasTrait<OpTrait::IsTerminator>() || (here != call && !here->isBeforeInBlock(call)))
      return; // needed later: when the function returns, then
    isRead |= here == call;
  }
  const KernelSummary &kernel = context.kernels.find(call.getCallee())->second;
  bool isPointwise = llvm::count(call.getOperands(), argument) == 1 &&
                     llvm::any_of(kernel.pointwise, [&](auto pair) {
                       return call.getOperand(pair.first) == argument && call.getResult(pair.second) == value;
                     });
  if (isRead && !isPointwise)
    copiedWhenMade[value] = target; // the kernel may read elements that it has overwritten
  else
    preferred[value] = target;
}

} // namespace millrace::lowering

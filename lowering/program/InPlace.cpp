// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InPlace.cpp - Decide which values share memory with those they replace ===//
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/BlockGraph.h"
#include "lowering/program/FunctionBuilder.h"
#include "lowering/program/LoopStates.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/plan/FusionPolicy.h"

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

/// Returns true if the kernel of `user` is the only reader of `value`, which a kernel of the same block computes: its buffer may be overwritten.
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

Operation *FunctionBuilder::lastRead(Block &block, Operation *user) {
  Operation *here = block.findAncestorOpInBlock(*user);
  if (here && isa<shlo::AsyncStartOp>(here) && !here->use_empty())
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
  if (isa<shlo::IfOp, shlo::CaseOp>(made.getOwner()))
    return updatedInBranches(made);
  auto call = dyn_cast<func::CallOp>(made.getOwner());
  auto kernel = call ? context.kernels.find(call.getCallee()) : context.kernels.end();
  if (kernel == context.kernels.end())
    return {};
  for (auto [operandIndex, resultIndex] : kernel->second.inPlace)
    if (resultIndex == made.getResultNumber())
      return call.getOperand(operandIndex);
  return {};
}

Value FunctionBuilder::updatedInBranches(OpResult made) const {
  Value array = updatedByBranches(made, [this](Value value) { return updatedBy(value); });
  if (!array)
    return {};
  bool isUpdated = false;
  for (Region &region : made.getOwner()->getRegions()) {
    auto updates = updatesIn(region.front(), array, region.front().getTerminator()->getOperand(made.getResultNumber()));
    if (!updates)
      return {};
    isUpdated |= !updates->empty();
  }
  return isUpdated && array.getType() == made.getType() ? array : Value();
}

std::optional<SmallVector<Value>> FunctionBuilder::updatesIn(Block &block, Value state, Value value) const {
  SmallVector<Value> updates;
  while (value != state) {
    Operation *maker = value.getDefiningOp();
    Value updated = maker && maker->getBlock() == &block ? updatedBy(value) : Value();
    if (!updated || !cast<RankedTensorType>(updated.getType()).hasStaticShape())
      return std::nullopt;
    bool isBranch = isa<shlo::IfOp, shlo::CaseOp>(maker); // updatedBy() has checked the branches
    SmallVector<OpOperand *> readers;
    readersOf(updated, readers);
    unsigned here = 0;
    bool isLastReader = llvm::all_of(readers, [&](OpOperand *reader) {
      Operation *at = lastRead(block, reader->getOwner());
      here += at == maker;
      return !at || (at == maker && (isBranch || reader->getOwner() == maker)) || (at != maker && at->isBeforeInBlock(maker));
    });
    isLastReader &= isBranch || here == 1;
    if (!isLastReader)
      return std::nullopt;
    updates.push_back(value);
    value = updated;
  }
  return updates;
}

SmallVector<Value> FunctionBuilder::updatesOf(BlockArgument state, Value value) const {
  return updatesIn(*state.getOwner(), state, value).value_or(SmallVector<Value>());
}

void FunctionBuilder::planBranches(Operation *op) {
  for (OpResult made : op->getResults()) {
    Value array = isTensor(made) && cast<RankedTensorType>(made.getType()).hasStaticShape() ? updatedBy(made) : Value();
    if (!array || !slots.contains(array) || fills.contains(array))
      continue;
    SlotId have = slots.lookup(array);
    Operation *maker = array.getDefiningOp();
    bool dies = isa_and_nonnull<func::CallOp>(maker) && maker->getBlock() == op->getBlock() && result.slots[have].kind == Slot::Kind::Arena &&
                !llvm::is_contained(exchanged, have) && llvm::all_of(array.getUsers(), [&](Operation *user) { return op->isProperAncestor(user); });
    auto wanted = preferred.find(made);
    if (wanted == preferred.end() && dies) {
      preferred[made] = have;
      updatedStates.push_back(have);
    } else if (wanted == preferred.end() || !isSameMemory(have, wanted->second)) {
      continue;
    }
    SlotId place = preferred.lookup(made);
    for (Region &region : op->getRegions()) {
      auto updates = updatesIn(region.front(), array, region.front().getTerminator()->getOperand(made.getResultNumber()));
      for (Value update : *updates)
        preferred[update] = place;
    }
  }
}

/// Returns true if the operation stores its results where they are wanted.
static bool isCollective(Operation *op) {
  return isa_and_nonnull<shlo::AllReduceOp, shlo::AllGatherOp, shlo::ReduceScatterOp, shlo::AllToAllOp, shlo::CollectivePermuteOp,
                         shlo::CollectiveBroadcastOp, shlo::AsyncStartOp, shlo::AsyncDoneOp>(op);
}

void FunctionBuilder::preferUpdates(Value value, SlotId slot) {
  // The operand is computed by a kernel, a collective or a loop of the block, and `value` is its only use.
  auto isMadeFor = [&](Value operand) {
    Operation *maker = operand.getDefiningOp();
    auto call = dyn_cast_or_null<func::CallOp>(maker);
    return operand.hasOneUse() && maker && maker->getBlock() == value.getDefiningOp()->getBlock() &&
           cast<RankedTensorType>(operand.getType()).hasStaticShape() &&
           (isa<shlo::WhileOp>(maker) || isCollective(maker) || (call && context.kernels.contains(call.getCallee())));
  };
  while (true) {
    Value replaced = updatedBy(value);
    auto call = value.getDefiningOp<func::CallOp>();
    auto kernel = call ? context.kernels.find(call.getCallee()) : context.kernels.end();
    // An operand that the kernel reads elementwise is replaced likewise.
    if (!replaced && kernel != context.kernels.end())
      for (auto [operandIndex, resultIndex] : kernel->second.pointwise)
        if (Value operand = call.getOperand(operandIndex);
            call.getResult(resultIndex) == value && isMadeFor(operand) && !isa<shlo::WhileOp>(operand.getDefiningOp()))
          replaced = operand;
    if (!replaced || !isMadeFor(replaced) || !preferred.try_emplace(replaced, slot).second)
      return;
    value = replaced;
  }
}

/// Returns true if, of `readers`, all of the same memory, one is an operand of `call`, and the kernel reads element i of it for element i of `result`
/// only.
static bool isPointwise(func::CallOp call, ArrayRef<OpOperand *> readers, Value result, const KernelSummary &kernel) {
  auto isHere = [&](OpOperand *reader) { return reader->getOwner() == call; };
  auto *here = llvm::find_if(readers, isHere);
  return here != readers.end() && llvm::count_if(readers, isHere) == 1 && llvm::any_of(kernel.pointwise, [&](auto pair) {
    return pair.first == (*here)->getOperandNumber() && call.getResult(pair.second) == result;
  });
}

bool FunctionBuilder::overwritesState(BlockArgument state, Value value) const {
  auto call = value.getDefiningOp<func::CallOp>();
  auto kernel = call && call->getBlock() == state.getOwner() ? context.kernels.find(call.getCallee()) : context.kernels.end();
  if (kernel == context.kernels.end() || kernel->second.part || !kernel->second.joined.empty() || state.getType() != value.getType() ||
      !cast<RankedTensorType>(state.getType()).hasStaticShape())
    return false;
  SmallVector<OpOperand *> readers;
  readersOf(state, readers);
  bool isLast = llvm::all_of(readers, [&](OpOperand *reader) {
    Operation *here = lastRead(*state.getOwner(), reader->getOwner());
    return here && !here->hasTrait<OpTrait::IsTerminator>() && (here == call ? reader->getOwner() == call : here->isBeforeInBlock(call));
  });
  return isLast && isPointwise(call, readers, value, kernel->second);
}

void FunctionBuilder::planReplacement(BlockArgument argument, Value value, SlotId target) {
  value = producedAs(value);
  if (!value || preferred.contains(value) || copiedWhenMade.contains(value))
    return;
  if (SmallVector<Value> updates = updatesOf(argument, value); !updates.empty()) {
    for (Value update : updates)
      preferred[update] = target;
    return;
  }
  Operation *maker = value.getDefiningOp();
  if (isa_and_nonnull<shlo::AsyncDoneOp>(maker)) // its result is written from its start on
    maker = maker->getOperand(0).getDefiningOp();
  auto call = dyn_cast_or_null<func::CallOp>(maker);
  bool isKernel = call && context.kernels.contains(call.getCallee());
  if (!isKernel && !isCollective(maker))
    return;
  SmallVector<OpOperand *> readers;
  readersOf(argument, readers);
  bool isRead = false;
  for (OpOperand *reader : readers) {
    Operation *here = lastRead(*argument.getOwner(), reader->getOwner());
    if (here->hasTrait<OpTrait::IsTerminator>() || (here != maker && !here->isBeforeInBlock(maker)) || (here == maker && !isKernel))
      return; // the argument is read later, so the result is copied when the function returns
    isRead |= here == maker;
  }
  if (isRead && !isPointwise(call, readers, value, context.kernels.find(call.getCallee())->second))
    copiedWhenMade[value] = target; // the kernel may read elements that it has overwritten
  else
    preferred[value] = target;
}

SlotId FunctionBuilder::operandToOverwrite(func::CallOp call, Value value, const KernelSummary &kernel, ArrayRef<SlotId> taken) const {
  auto isKernel = [&](Operation *op, auto holds) {
    auto made = dyn_cast_or_null<func::CallOp>(op);
    auto found = made ? context.kernels.find(made.getCallee()) : context.kernels.end();
    return found != context.kernels.end() && holds(found->second);
  };
  for (auto [operandIndex, resultIndex] : kernel.pointwise) {
    if (call.getResult(resultIndex) != value)
      continue;
    Value root = rootOf(call.getOperand(operandIndex));
    // The value is defined in this iteration, and nothing else shares its memory.
    bool isOwn = isKernel(root.getDefiningOp(), [](const KernelSummary &maker) { return maker.joined.empty() && !maker.part; });
    if (!isOwn || root.getDefiningOp()->getBlock() != call->getBlock())
      continue;
    SlotId slot = slots.lookup(call.getOperand(operandIndex));
    const Slot &memory = result.slots[slot];
    if (memory.kind != Slot::Kind::Arena || memory.dtype != dtypeOf(getElementTypeOrSelf(value.getType())) || llvm::is_contained(exchanged, slot) ||
        llvm::is_contained(taken, slot))
      continue;
    SmallVector<OpOperand *> readers;
    readersOf(root, readers);
    bool isLast = llvm::all_of(readers, [&](OpOperand *reader) {
      Operation *here = lastRead(*root.getParentBlock(), reader->getOwner());
      bool isView = isKernel(reader->getOwner(), [](const KernelSummary &user) { return user.part.has_value(); }); // the view may be read later
      return here == call || (here->isBeforeInBlock(call) && !isView);
    });
    if (isLast && isPointwise(call, readers, value, kernel))
      return slot;
  }
  return kNone;
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Steps.cpp - Operations outside of kernels as runtime steps ---------===//
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/FunctionBuilder.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/FusionPolicy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::runtime;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {

LogicalResult FunctionBuilder::visitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult FunctionBuilder::visit(Operation *op) {
  // A rename: the results are the operands' bytes.
  if (fusion::isAlias(op)) {
    for (auto [operand, opResult] : llvm::zip_equal(op->getOperands(), op->getResults()))
      if (isTensor(operand))
        slots[opResult] = use(operand);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](shlo::ConstantOp constant) {
        return visitConstant(op, cast<DenseElementsAttr>(constant.getValue()));
      })
      .Case([&](func::CallOp call) { return visitCall(call); })
      .Case([&](func::ReturnOp) { return visitReturn(op); })
      .Case([&](shlo::ReturnOp) { return success(); }) // its parent reads the operands
      .Case<shlo::WhileOp>([&](auto) { return visitWhile(op); })
      .Case<shlo::CaseOp, shlo::IfOp>([&](auto) { return visitBranches(op); })
      .Case<shlo::CustomCallOp>([&](auto) { return visitCustomCall(op); })
      .Case<shlo::PartitionIdOp, shlo::ReplicaIdOp>([&](auto) {
        DeviceIdStep step;
        step.kind = isa<shlo::PartitionIdOp>(op) ? DeviceIdStep::Kind::Partition : DeviceIdStep::Kind::Replica;
        step.destination = slotFor(op->getResult(0));
        context.program.stepOps.push_back(op->getName().getStringRef().str());
        emit({step}, op->getLoc());
        return success();
      })
      .Case<shlo::AfterAllOp, shlo::CreateTokenOp>([&](auto) { return success(); }) // steps run in order anyway
      .Case<shlo::SendOp, shlo::RecvOp, shlo::InfeedOp, shlo::OutfeedOp>([&](auto) { return visitTransfer(op); })
      .Default([&](Operation *) { return visitCollective(op); });
}

LogicalResult FunctionBuilder::visitConstant(Operation *op, DenseElementsAttr value) {
  constexpr uint64_t kLargestStoredSplat = 4096;
  Value constant = op->getResult(0);
  auto type = cast<RankedTensorType>(constant.getType());
  uint64_t elementBytes = byteSize(dtypeOf(type.getElementType()));
  if (value.isSplat() && elementBytes * value.getNumElements() > kLargestStoredSplat) {
    auto scalarType = RankedTensorType::get({}, cast<ShapedType>(value.getType()).getElementType());
    FailureOr<std::string> pattern = bytesOf(value.reshape(scalarType));
    if (failed(pattern))
      return op->emitError("has an element type that buffers cannot hold: ") << type.getElementType();
    SlotId slot = slotFor(constant);
    emit({FillStep{slot, std::vector<uint8_t>(pattern->begin(), pattern->end())}}, op->getLoc());
    return success();
  }
  FailureOr<std::string> bytes = bytesOf(value);
  if (failed(bytes))
    return op->emitError("has an element type that buffers cannot hold: ") << type.getElementType();
  slots[constant] = addSlot(Slot::Kind::Constant, type, context.constant(std::move(*bytes)));
  return success();
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
    SlotId source = use(operand);
    auto wanted = preferred.find(opResult);
    SlotId target;
    if (wanted != preferred.end())
      target = wanted->second;
    else if (diesAt(operand, call) && result.slots[source].kind == Slot::Kind::Arena)
      target = source;
    else
      target = newArena(cast<RankedTensorType>(opResult.getType()));
    copy(source, target, call.getLoc());
    preferred[opResult] = updated[operandIndex] = target;
  }
  return updated;
}

/// `next`, what the body yields for its argument `state`, is the same buffer updated by a kernel after everything that
/// reads the old value: the loop needs no second buffer.
bool FunctionBuilder::updatesInPlace(BlockArgument state, Value next) {
  auto call = next.getDefiningOp<func::CallOp>();
  if (!call || call->getBlock() != state.getOwner())
    return false;
  auto kernel = context.kernels.find(call.getCallee());
  if (kernel == context.kernels.end())
    return false;
  unsigned resultIndex = cast<OpResult>(next).getResultNumber();
  bool found = llvm::any_of(kernel->second.inPlace, [&](auto pair) {
    return pair.second == resultIndex && call.getOperand(pair.first) == state;
  });
  if (!found || llvm::count(call.getOperands(), state) != 1)
    return false;
  return llvm::all_of(state.getUsers(), [&](Operation *user) {
    Operation *here = state.getOwner()->findAncestorOpInBlock(*user);
    return !fusion::isAlias(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
           (here == call || here->isBeforeInBlock(call));
  });
}

LogicalResult FunctionBuilder::visitCall(func::CallOp call) {
  auto kernel = context.kernels.find(call.getCallee());
  if (kernel != context.kernels.end()) {
    const KernelSummary &summary = kernel->second;
    SmallVector<SlotId> updated = prepareInPlace(call, summary);
    KernelStep step;
    step.kernel = summary.index;
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      step.inputs.push_back(updated[index] != kNone ? updated[index] : use(operand));
    for (SlotId slot : slotsForAll(call.getResults()))
      step.outputs.push_back(slot);
    step.end = DimExpr::constant(summary.rangeEnd);
    step.granularity = summary.granularity;
    step.scratchBytes = summary.scratchBytes;
    step.picosecondsPerIteration = (uint64_t)summary.picosPerIteration;
    emit({std::move(step)}, call.getLoc());
    return success();
  }
  auto callee = context.functions.find(call.getCallee());
  if (callee == context.functions.end())
    return call.emitError("calls the undefined function @") << call.getCallee();
  CallStep step;
  step.function = callee->second;
  for (Value operand : call.getOperands())
    if (isTensor(operand))
      step.arguments.push_back(useWithShape(operand, call.getLoc()));
  for (SlotId slot : slotsForAll(call.getResults()))
    step.results.push_back(slot);
  step.arenaOffset = calleeArenas.size();
  calleeArenas.push_back(temporaries.size());
  temporaries.push_back({kNone, {context.program.functions[callee->second].arenaBytes, position, position}});
  emit({std::move(step)}, call.getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitWhile(Operation *op) {
  auto loop = cast<shlo::WhileOp>(op);
  context.program.stepOps.push_back("stablehlo.while");
  Location loc = op->getLoc();
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto yield = body.getTerminator();

  LoopStep step;
  SmallVector<std::pair<unsigned, LoopStep::Carried>> carried;
  SmallVector<SlotId> updatedStates;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value init = op->getOperand(i), next = yield->getOperand(i);
    if (!isTensor(init))
      continue;
    SlotId state;
    if (next == body.getArgument(i)) {
      // The loop never changes it: everybody reads the initial value.
      state = use(init);
    } else {
      SlotId initSlot = use(init);
      bool ownsInit = init.hasOneUse() && isa_and_nonnull<func::CallOp>(init.getDefiningOp()) &&
                      init.getDefiningOp()->getBlock() == op->getBlock() &&
                      result.slots[initSlot].kind == Slot::Kind::Arena && !llvm::is_contained(exchanged, initSlot);
      if (ownsInit) {
        state = initSlot;
      } else {
        state = newArena(cast<RankedTensorType>(init.getType()));
        copy(initSlot, state, loc);
      }
      if (updatesInPlace(body.getArgument(i), next)) {
        preferred[next] = state;
        exchanged.push_back(state);
        updatedStates.push_back(state);
        slots[cond.getArgument(i)] = slots[body.getArgument(i)] = slots[op->getResult(i)] = state;
        continue;
      }
      SlotId nextSlot = newArena(cast<RankedTensorType>(init.getType()));
      carried.push_back({i, {state, nextSlot}});
      exchanged.append({state, nextSlot});
      if (next.getDefiningOp() && next.getDefiningOp()->getBlock() == &body && isa<func::CallOp>(next.getDefiningOp()))
        preferred.try_emplace(next, nextSlot);
    }
    slots[cond.getArgument(i)] = slots[body.getArgument(i)] = slots[op->getResult(i)] = state;
  }

  ++position;
  loops.push_back({position, {}});
  for (auto &[index, pair] : carried)
    loops.back().outer.append({pair.state, pair.next});
  loops.back().outer.append(updatedStates);
  Steps *outside = steps;
  steps = &step.cond;
  if (failed(visitBlock(cond)))
    return failure();
  step.predicate = use(cond.getTerminator()->getOperand(0));
  ++position;
  steps = &step.body;
  if (failed(visitBlock(body)))
    return failure();
  for (auto &[index, pair] : carried) {
    SlotId made = use(yield->getOperand(index));
    copy(made, pair.next, loc);
    touch(pair.state);
    step.carried.push_back(pair);
  }
  steps = outside;
  OpenLoop closed = loops.pop_back_val();
  for (SlotId slot : closed.outer) {
    Lifetime &lifetime = temporaries[temporaryOf.lookup(slot)].lifetime;
    lifetime.last = std::max(lifetime.last, position);
  }
  emit({std::move(step)}, loc);
  return success();
}

LogicalResult FunctionBuilder::visitBranches(Operation *op) {
  context.program.stepOps.push_back(op->getName().getStringRef().str());
  CondStep step;
  step.index = use(op->getOperand(0));
  slotsForAll(op->getResults());
  ++position;
  Steps *outside = steps;
  for (Region &region : op->getRegions()) {
    Steps &branch = step.branches.emplace_back();
    steps = &branch;
    Operation *yield = region.front().getTerminator();
    for (auto [value, opResult] : llvm::zip_equal(yield->getOperands(), op->getResults()))
      if (isTensor(value) && value.getDefiningOp() && value.getDefiningOp()->getBlock() == &region.front() &&
          isa<func::CallOp>(value.getDefiningOp()))
        preferred.try_emplace(value, slots.lookup(opResult));
    if (failed(visitBlock(region.front())))
      return failure();
    for (auto [value, opResult] : llvm::zip_equal(yield->getOperands(), op->getResults()))
      if (isTensor(value))
        copy(use(value), slots.lookup(opResult), op->getLoc());
  }
  steps = outside;
  for (Value opResult : op->getResults())
    if (isTensor(opResult))
      use(opResult);
  emit({std::move(step)}, op->getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitCustomCall(Operation *op) {
  auto call = cast<shlo::CustomCallOp>(op);
  CustomCallStep step;
  step.target = call.getCallTargetName().str();
  step.apiVersion = (int32_t)call.getApiVersion();
  step.hasSideEffect = call.getHasSideEffect();
  if (auto config = call.getBackendConfigAttr()) {
    if (auto text = dyn_cast<StringAttr>(config))
      step.backendConfig = text.getValue().str();
    else if (auto dictionary = dyn_cast<DictionaryAttr>(config))
      step.attributes = attributesOf(dictionary);
  }
  if (auto dictionary = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config"))
    step.attributes = attributesOf(dictionary);
  auto layouts = [](ArrayAttr attr, std::vector<std::vector<int64_t>> &out) {
    if (!attr)
      return;
    for (auto layout : attr.getAsRange<DenseIntElementsAttr>()) {
      std::vector<int64_t> order;
      for (const APInt &d : layout)
        order.push_back(d.getSExtValue());
      out.push_back(std::move(order));
    }
  };
  layouts(call.getOperandLayoutsAttr(), step.argumentLayouts);
  layouts(call.getResultLayoutsAttr(), step.resultLayouts);
  if (ArrayAttr aliases = call.getOutputOperandAliasesAttr()) {
    for (auto alias : aliases.getAsRange<shlo::OutputOperandAliasAttr>()) {
      uint32_t output = alias.getOutputTupleIndices().empty() ? 0 : alias.getOutputTupleIndices().front();
      step.aliases.push_back({(uint32_t)alias.getOperandIndex(), output});
    }
  }
  for (Value operand : op->getOperands())
    if (isTensor(operand))
      step.arguments.push_back(useWithShape(operand, op->getLoc()));
  for (SlotId slot : slotsForAll(op->getResults()))
    step.results.push_back(slot);
  if (context.customCalls.try_emplace(step.target, 0).second)
    context.program.customCallTargets.push_back(step.target);
  if (!StringRef(step.target).starts_with("check."))
    context.program.stepOps.push_back("stablehlo.custom_call");
  emit({std::move(step)}, op->getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitReturn(Operation *op) {
  unsigned index = 0;
  for (Value value : op->getOperands()) {
    if (!isTensor(value))
      continue;
    copy(use(value), result.results[index++], op->getLoc());
  }
  return success();
}

} // namespace millrace::lowering

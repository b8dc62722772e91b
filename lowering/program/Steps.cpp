// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Steps.cpp - Translate operations outside of kernels to steps -------===//
#include "dialects/millrace/Ops.h"
#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Tensor.h"
#include "lowering/program/FunctionBuilder.h"
#include "lowering/program/LoopStates.h"
#include "lowering/program/MemoryPlan.h"
#include "lowering/program/OpenRows.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/plan/FusionPolicy.h"

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
  // An alias: the results are the operands' bytes.
  if (fusion::isAlias(op)) {
    for (auto [operand, opResult] : llvm::zip_equal(op->getOperands(), op->getResults()))
      if (isTensor(operand)) {
        SlotId slot = use(operand);
        // Steps other than kernels read types.
        auto type = cast<RankedTensorType>(opResult.getType());
        auto hasType = [&](SlotId each) { return result.slots[each].dtype == dtypeOf(type.getElementType()); };
        if (isa<AliasOp>(op) && !hasType(slot)) {
          const Slot &named = result.slots[slot];
          bool isName = named.kind == Slot::Kind::View && named.offset == 0 && hasType(named.index); // of what has the type
          slot = isName ? named.index : viewOf(slot, 0, type);
        }
        slots[opResult] = slot;
        if (auto it = dynamicDims.find(operand); it != dynamicDims.end())
          dynamicDims[opResult] = Dims(it->second);
      }
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](shlo::ConstantOp constant) -> LogicalResult {
        if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
          return visitConstant(op, dense);
        // Sparse elements, or a resource.
        llvm::Expected<eval::Tensor> tensor = eval::Tensor::fromAttr(constant.getValue());
        if (!tensor)
          return op->emitOpError(llvm::toString(tensor.takeError()));
        return visitConstant(op, tensor->toAttr());
      })
      .Case([&](func::CallOp call) { return visitCall(call); })
      .Case([&](func::ReturnOp) { return visitReturn(op); })
      .Case([&](shlo::ReturnOp) { return success(); }) // the parent operation reads the operands
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
      .Case<shlo::AfterAllOp, shlo::CreateTokenOp>([&](auto) { return success(); }) // steps run in order, so tokens need none
      .Case<shlo::SendOp, shlo::RecvOp, shlo::InfeedOp, shlo::OutfeedOp>([&](auto) { return visitTransfer(op); })
      .Case<shlo::AsyncStartOp>([&](auto) { return visitAsyncStart(op); })
      .Case<shlo::AsyncDoneOp>([&](auto) { return visitAsyncDone(op); })
      .Default([&](Operation *) { return visitCollective(op); });
}

LogicalResult FunctionBuilder::visitConstant(Operation *op, DenseElementsAttr value) {
  Value constant = op->getResult(0);
  auto type = cast<RankedTensorType>(constant.getType());
  uint64_t elementBytes = byteSize(dtypeOf(type.getElementType()));
  if (value.isSplat() && elementBytes * value.getNumElements() > kLargestStoredSplat) {
    auto scalarType = RankedTensorType::get({}, cast<ShapedType>(value.getType()).getElementType());
    FailureOr<std::string> pattern = bytesOf(value.reshape(scalarType));
    if (failed(pattern))
      return op->emitError("has an element type that buffers cannot hold: ") << type.getElementType();
    fills[constant] = std::move(*pattern);
    if (!llvm::all_of(constant.getUses(), [&](OpOperand &use) { return isStartOfUpdates(use); }))
      fill(constant, slotFor(constant), op->getLoc());
    return success();
  }
  // Elements of whole bytes have the same representation in the attribute and in a buffer: large constants are copied into the program only once.
  auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value);
  if (dense && !value.isSplat() && elementBytes > 1 &&
      dense.getRawData().size() == elementBytes * uint64_t(value.getNumElements())) {
    ArrayRef<char> raw = dense.getRawData();
    slots[constant] = addSlot(Slot::Kind::Constant, type, dimsOf(constant), context.constant(StringRef(raw.data(), raw.size())));
    return success();
  }
  FailureOr<std::string> bytes = bytesOf(value);
  if (failed(bytes))
    return op->emitError("has an element type that buffers cannot hold: ") << type.getElementType();
  slots[constant] = addSlot(Slot::Kind::Constant, type, dimsOf(constant), context.constant(*bytes));
  return success();
}

void FunctionBuilder::fill(Value constant, SlotId to, Location loc) {
  const std::string &pattern = fills.find(constant)->second;
  touch(to);
  emit({FillStep{to, std::vector<uint8_t>(pattern.begin(), pattern.end())}}, loc);
}

void FunctionBuilder::start(Value value, SlotId at, Location loc) {
  if (fills.contains(value))
    fill(value, at, loc);
  else
    copy(use(value), at, loc);
}

LogicalResult FunctionBuilder::sizeResults(func::CallOp call, func::FuncOp kernel, SetDimsStep &step) {
  Operation *ret = kernel.getBody().front().getTerminator();
  for (auto [value, returned] : llvm::zip_equal(call.getResults(), ret->getOperands())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.hasStaticShape())
      continue;
    slotFor(value);
    Dims dims = dimsOf(value);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d))
        continue;
      std::optional<fusion::ShapeRecipe> recipe = fusion::sizeOf(returned, d);
      if (!recipe)
        return call.emitError("has a result whose dimension ")
               << d << " depends on values that the operation computes itself: " << type;
      DimExpr expr = sizeExpr(*recipe, call, step);
      define(dims[d].value, expr);
      step.entries.push_back({(uint32_t)dims[d].value, kNone, 0, std::move(expr)});
    }
  }
  return success();
}

void setKernel(KernelStep &step, const KernelSummary &summary) {
  step.kernel = summary.index;
  step.end = DimExpr::constant(summary.rangeEnd);
  step.granularity = summary.granularity;
  step.scratchBytes = summary.scratchBytes;
  step.picosecondsPerIteration = (uint64_t)summary.picosPerIteration;
  if (summary.rows.indices) {
    auto by = [](DimExpr expr, DimExpr::Op op, int64_t number) {
      bool changes = number != 1;
      return changes ? DimExpr::binary(op, std::move(expr), DimExpr::constant(number)) : expr;
    };
    step.end = by(by(by(DimExpr::dim(kRowsDim), DimExpr::Op::Mul, summary.rows.indices), DimExpr::Op::CeilDiv, summary.rows.indicesPerUnit),
                  DimExpr::Op::Mul, summary.rows.units);
  }
  if (summary.takesRows)
    step.dims = {kRowsDim};
}

/// Makes the range empty where there are more than few rows, or no more.
static void runOnlyFor(KernelStep &step, bool few) { step.end = DimExpr::binary(DimExpr::Op::Mul, step.end, oneIfFewRows(few)); }

LogicalResult FunctionBuilder::visitCall(func::CallOp call) {
  auto kernel = context.kernels.find(call.getCallee());
  if (kernel != context.kernels.end()) {
    const KernelSummary &summary = kernel->second;
    if (summary.part && viewPart(call, *summary.part))
      return success();
    if (!summary.joined.empty() && slots.contains(call.getResult(0))) { // some of its operands were computed in place
      completeJoin(call, summary.joined);
      return success();
    }
    auto function = context.symbols.lookup<func::FuncOp>(call.getCallee());
    SetDimsStep sizes;
    if (failed(sizeResults(call, function, sizes)) || failed(checkSizes(call, function, sizes)))
      return failure();
    if (!sizes.entries.empty() || !sizes.checks.empty())
      emit({std::move(sizes)}, call.getLoc());
    SmallVector<SlotId> updated = prepareInPlace(call, summary);
    KernelStep step;
    setKernel(step, summary);
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      step.inputs.push_back(updated[index] != kNone ? updated[index] : use(operand));
    for (Value value : call.getResults()) {
      bool sized = !cast<RankedTensorType>(value.getType()).hasStaticShape();
      step.outputs.push_back(sized ? use(value) : slotFor(value, operandToOverwrite(call, value, summary, step.outputs)));
    }
    for (ValueRange values : {ValueRange(call.getOperands()), ValueRange(call.getResults())})
      for (Value value : values)
        if (auto it = dynamicDims.find(value); it != dynamicDims.end())
          for (Dim dim : it->second)
            if (dim.isRuntime)
              step.dims.push_back(dim.value);
    // Of two kernels for few and for many rows one has nothing to do.
    auto few = call->getAttrOfType<FlatSymbolRefAttr>(kFewRowsKernelAttr);
    auto other = few ? context.kernels.find(few.getValue()) : context.kernels.end();
    if (other != context.kernels.end() && other->second.pointwise == summary.pointwise) {
      KernelStep fewStep = step;
      fewStep.dims.clear();
      setKernel(fewStep, other->second);
      runOnlyFor(fewStep, /*few=*/true);
      runOnlyFor(step, /*few=*/false);
      emit({std::move(fewStep)}, call.getLoc());
    }
    emit({std::move(step)}, call.getLoc());
    for (Value value : call.getResults())
      if (auto moved = copiedWhenMade.find(value); moved != copiedWhenMade.end()) {
        copy(use(value), moved->second, call.getLoc());
        slots[value] = moved->second;
      }
    return success();
  }
  auto callee = context.functions.find(call.getCallee());
  if (callee == context.functions.end())
    return call.emitError("calls the undefined function @") << call.getCallee();
  CallStep step;
  step.function = callee->second;
  for (Value operand : call.getOperands())
    if (isTensor(operand))
      step.arguments.push_back(useWithShape(operand));
  for (SlotId slot : slotsForAll(call.getResults()))
    step.results.push_back(slot);
  step.arenaOffset = calleeArenas.size();
  calleeArenas.push_back(temporaries.size());
  temporaries.push_back({kNone, {context.program.functions[callee->second].arenaBytes, position, position,
                                 context.liveBytes[callee->second]}});
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
  SmallVector<std::pair<unsigned, SlotId>> mixed; // states whose values have several types, some of which leave sizes open
  SmallVector<SlotId> ownUpdatedStates, states(op->getNumOperands(), kNone);
  auto taken = takenStates(loop, [this](Value value) { return updatedBy(value); }, [&](BlockArgument state, Value value) {
    return updatesIn(body, state, value).has_value();
  });
  auto isMixed = [&](unsigned i) {
    auto type = op->getOperand(i).getType();
    return type != cond.getArgument(i).getType() || type != body.getArgument(i).getType() || type != yield->getOperand(i).getType();
  };
  if (llvm::any_of(llvm::seq<unsigned>(0, op->getNumOperands()), isMixed))
    llvm::fill(taken, std::nullopt);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value init = op->getOperand(i), next = yield->getOperand(i);
    if (!isTensor(init))
      continue;
    SlotId state;
    const bool hasSeveralTypes = isMixed(i);
    auto mapCarried = [&, i = i](SlotId slot) {
      if (hasSeveralTypes)
        mixed.push_back({i, slot});
      for (Value value : {Value(cond.getArgument(i)), Value(body.getArgument(i)), Value(op->getResult(i))}) {
        slots[value] = slot;
        if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
          dynamicDims[value] = Dims(result.slots[slot].dims.begin(), result.slots[slot].dims.end());
      }
    };
    if (next == body.getArgument(i)) {
      // The loop never changes the state: all readers use the initial value.
      state = use(init);
    } else {
      bool ownsInit = !hasSeveralTypes && init.hasOneUse() && isa_and_nonnull<func::CallOp>(init.getDefiningOp()) &&
                      init.getDefiningOp()->getBlock() == op->getBlock() &&
                      result.slots[use(init)].kind == Slot::Kind::Arena && !llvm::is_contained(exchanged, use(init)) &&
                      hasTypeOf(use(init), init); // it may share the memory of an operand with another shape
      SmallVector<Value> updates = hasSeveralTypes ? SmallVector<Value>() : updatesOf(body.getArgument(i), next);
      // A sum that grows element by element needs no second buffer either, unless another value takes this one's.
      bool isTaken = taken[i].has_value() || llvm::is_contained(taken, std::optional<unsigned>(i));
      if (updates.empty() && !isTaken && !hasSeveralTypes && overwritesState(body.getArgument(i), next))
        updates.push_back(next);
      auto type = cast<RankedTensorType>(init.getType());
      if (hasSeveralTypes) { // the sizes of its memory are open where any of the types leaves them open
        SmallVector<int64_t> shape(type.getShape());
        for (Value value : {Value(cond.getArgument(i)), Value(body.getArgument(i)), next})
          for (auto [size, other] : llvm::zip_equal(shape, cast<RankedTensorType>(value.getType()).getShape()))
            size = size == other ? size : ShapedType::kDynamic;
        type = RankedTensorType::get(shape, type.getElementType());
      }
      auto wanted = preferred.find(op->getResult(i));
      if (!updates.empty() && wanted != preferred.end() && type.hasStaticShape()) {
        state = wanted->second; // where the loop's result is wanted
        start(init, state, loc);
      } else if (ownsInit) {
        state = use(init);
      } else {
        Dims dims = freshDims(type);
        assignDims(dims, dimsOf(init), loc);
        state = newTemporary(type, dims);
        start(init, state, loc);
      }
      if (!updates.empty()) {
        for (Value update : updates)
          preferred[update] = state;
        exchanged.push_back(state);
        updatedStates.push_back(state);
        ownUpdatedStates.push_back(state);
        mapCarried(state);
        continue;
      }
      states[i] = state;
      if (taken[i]) { // the memory of the other state, once that is known
        carried.push_back({i, {state, kNone}});
        exchanged.push_back(state);
        mapCarried(state);
        continue;
      }
      SlotId nextSlot = newTemporary(type, freshDims(type));
      carried.push_back({i, {state, nextSlot}});
      exchanged.append({state, nextSlot});
      // A value of static shape does not tell the size of a state of dynamic shape: it is copied, with its dims.
      if (next.getType() == type && next.getDefiningOp() && next.getDefiningOp()->getBlock() == &body && isa<func::CallOp>(next.getDefiningOp()))
        preferred.try_emplace(next, nextSlot);
    }
    mapCarried(state);
  }

  for (auto &[index, pair] : carried)
    if (taken[index]) {
      pair.next = states[*taken[index]];
      SmallVector<Value> updates = updatesOf(body.getArgument(*taken[index]), yield->getOperand(index));
      for (Value update : updates)
        preferred[update] = pair.next;
      if (!updates.empty())
        updatedStates.push_back(pair.next);
    }

  ++position;
  loops.push_back({position, {}});
  for (auto &[index, pair] : carried)
    loops.back().outer.append({pair.state, pair.next});
  loops.back().outer.append(ownUpdatedStates);
  Steps *outside = steps;
  auto takeSizesOfStates = [&](ValueRange values) {
    for (auto [index, slot] : mixed)
      takeSizes(values[index], Dims(result.slots[slot].dims.begin(), result.slots[slot].dims.end()), loc);
  };
  steps = &step.cond;
  takeSizesOfStates(cond.getArguments());
  if (failed(visitBlock(cond)))
    return failure();
  step.predicate = use(cond.getTerminator()->getOperand(0));
  ++position;
  steps = &step.body;
  takeSizesOfStates(body.getArguments());
  if (failed(visitBlock(body)))
    return failure();
  for (auto &[index, pair] : carried) {
    Value next = yield->getOperand(index);
    SlotId made = use(next);
    if (made != pair.next)
      assignDims(Dims(result.slots[pair.next].dims.begin(), result.slots[pair.next].dims.end()), dimsOf(next), loc);
    copy(made, pair.next, loc);
    touch(pair.state);
    step.carried.push_back(pair);
  }
  steps = outside;
  OpenLoop closed = loops.pop_back_val();
  for (SlotId slot : closed.outer) {
    auto temporary = temporaryOf.find(slot);
    if (temporary == temporaryOf.end())
      continue; // in the memory of a result, or on the heap
    Lifetime &lifetime = temporaries[temporary->second].lifetime;
    lifetime.last = std::max(lifetime.last, position);
  }
  emit({std::move(step)}, loc);
  takeSizesOfStates(op->getResults());
  return success();
}

LogicalResult FunctionBuilder::visitBranches(Operation *op) {
  context.program.stepOps.push_back(op->getName().getStringRef().str());
  CondStep step;
  step.index = use(op->getOperand(0));
  planBranches(op);
  slotsForAll(op->getResults());
  ++position;
  Steps *outside = steps;
  for (Region &region : op->getRegions()) {
    Steps &branch = step.branches.emplace_back();
    steps = &branch;
    Operation *yield = region.front().getTerminator();
    for (auto [value, opResult] : llvm::zip_equal(yield->getOperands(), op->getResults()))
      if (isTensor(value) && value.getType() == opResult.getType() && value.getDefiningOp() && value.getDefiningOp()->getBlock() == &region.front() &&
          isa<func::CallOp>(value.getDefiningOp()))
        preferred.try_emplace(value, slots.lookup(opResult));
    if (failed(visitBlock(region.front())))
      return failure();
    for (auto [value, opResult] : llvm::zip_equal(yield->getOperands(), op->getResults()))
      if (isTensor(value)) {
        SlotId made = use(value), target = slots.lookup(opResult);
        if (made != target)
          assignDims(dimsOf(opResult), dimsOf(value), op->getLoc());
        copy(made, target, op->getLoc());
      }
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
  if (call.getCallTargetName() == "millrace.rng_seed" && op->getNumResults() == 1) { // created by xla-seed-rng
    emit({DeviceIdStep{DeviceIdStep::Kind::RandomSeed, slotFor(op->getResult(0))}}, op->getLoc());
    return success();
  }
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.hasStaticShape())
      return op->emitError("@") << call.getCallTargetName() << " has a result whose sizes only a run knows, which is not supported: " << tensor;
  CustomCallStep step;
  step.target = call.getCallTargetName().str();
  step.apiVersion = (int32_t)call.getApiVersion();
  step.hasSideEffect = call.getHasSideEffect();
  // JAX writes the dictionary of a typed call (FFI) next to an empty string, for readers that expect a string there.
  auto dictionary = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  if (auto text = dyn_cast_or_null<StringAttr>(call.getBackendConfigAttr()))
    step.backendConfig = text.getValue().str();
  else if (auto config = dyn_cast_or_null<DictionaryAttr>(call.getBackendConfigAttr()))
    dictionary = config;
  bool isTyped = dictionary || call.getApiVersion() == shlo::CustomCallApiVersion::API_VERSION_TYPED_FFI;
  if (dictionary) {
    FailureOr<std::vector<runtime::Attribute>> attributes = attributesOf(dictionary, op);
    if (failed(attributes))
      return failure();
    step.attributes = std::move(*attributes);
  }
  // Typed calls receive tokens, too, as arguments without memory; other calls do not.
  SmallVector<uint32_t> operandPosition, resultPosition;
  auto addAll = [&](ValueRange values, auto tensorSlot, std::vector<SlotId> &list, SmallVector<uint32_t> &position) {
    for (Value value : values) {
      position.push_back(list.size());
      if (isTensor(value)) {
        list.push_back(tensorSlot(value));
      } else if (isTyped && isa<shlo::TokenType>(value.getType())) {
        result.slots.push_back({Slot::Kind::Arena, 0, 0, 0, DType::Token, {}});
        list.push_back(result.slots.size() - 1);
      } else {
        position.back() = kNone;
      }
    }
  };
  addAll(op->getOperands(), [&](Value value) { return useWithShape(value); }, step.arguments,
         operandPosition);
  addAll(op->getResults(), [&](Value value) { return slotFor(value); }, step.results, resultPosition);
  auto layouts = [](ArrayAttr attr, ArrayRef<uint32_t> position, std::vector<std::vector<int64_t>> &out) {
    if (!attr)
      return;
    for (auto [index, layout] : llvm::enumerate(attr.getAsRange<DenseIntElementsAttr>())) {
      if (index >= position.size() || position[index] == kNone)
        continue;
      std::vector<int64_t> &order = out.emplace_back();
      for (const APInt &d : layout)
        order.push_back(d.getSExtValue());
    }
  };
  layouts(call.getOperandLayoutsAttr(), operandPosition, step.argumentLayouts);
  layouts(call.getResultLayoutsAttr(), resultPosition, step.resultLayouts);
  if (ArrayAttr aliases = call.getOutputOperandAliasesAttr()) {
    for (auto alias : aliases.getAsRange<shlo::OutputOperandAliasAttr>()) {
      int64_t output = alias.getOutputTupleIndices().empty() ? 0 : alias.getOutputTupleIndices().front();
      step.aliases.push_back({operandPosition[alias.getOperandIndex()], resultPosition[output]});
    }
  }
  if (context.customCalls.try_emplace(step.target, 0).second)
    context.program.customCallTargets.push_back(step.target);
  if (!StringRef(step.target).starts_with("check."))
    context.program.stepOps.push_back("stablehlo.custom_call");
  emit({std::move(step)}, op->getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitReturn(Operation *op) {
  struct Move {
    Value value;
    SlotId from, to;
  };
  SmallVector<Move> moves; // into the memory of donated arguments, which other results may still read
  unsigned index = 0;
  for (Value value : op->getOperands()) {
    if (!isTensor(value))
      continue;
    SlotId target = result.results[index++], made = use(value);
    if (made != target)
      assignDims(Dims(result.slots[target].dims.begin(), result.slots[target].dims.end()), dimsOf(value), op->getLoc());
    if (argumentWritten(target) == kNone)
      copy(made, target, op->getLoc());
    else if (made != target)
      moves.push_back({value, made, target});
  }
  while (!moves.empty()) {
    auto *next = llvm::find_if(moves, [&](const Move &move) {
      return llvm::none_of(moves, [&](const Move &other) {
        return other.to != move.to && argumentRead(other.from) == argumentWritten(move.to);
      });
    });
    if (next != moves.end()) {
      copy(next->from, next->to, op->getLoc());
      moves.erase(next);
      continue;
    }
    // In a cycle, as in `return %b, %a`, one value is copied elsewhere first.
    Move &first = moves.front();
    SlotId aside = newTemporary(cast<RankedTensorType>(first.value.getType()), dimsOf(first.value));
    copy(first.from, aside, op->getLoc());
    first.from = aside;
  }
  return success();
}

} // namespace millrace::lowering

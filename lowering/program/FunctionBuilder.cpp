// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionBuilder.cpp - Slots and lifetimes of one function ----------===//
#include "lowering/program/FunctionBuilder.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/OpenRows.h"
#include "lowering/program/ResultMemory.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::runtime;

namespace millrace::lowering {

uint32_t ProgramContext::constant(llvm::StringRef bytes) {
  program.constants.push_back(Constant::copy(bytes.data(), bytes.size()));
  return program.constants.size() - 1;
}

FunctionBuilder::FunctionBuilder(ProgramContext &context, func::FuncOp function, bool isEntry)
    : context(context), function(function), isEntry(isEntry), steps(&result.steps) {
  result.name = function.getName().str();
}

bool FunctionBuilder::isTensor(Value value) const { return isa<RankedTensorType>(value.getType()); }

SlotId FunctionBuilder::addSlot(Slot::Kind kind, RankedTensorType type, const Dims &dims, uint32_t index) {
  Slot slot;
  slot.kind = kind;
  slot.index = index;
  slot.dtype = dtypeOf(type.getElementType());
  slot.dims.assign(dims.begin(), dims.end());
  slot.bytes = slot.isStatic() ? byteSize(slot.dtype) : 0;
  for (Dim dim : dims)
    slot.bytes *= dim.isRuntime ? 0 : dim.value;
  result.slots.push_back(std::move(slot));
  return result.slots.size() - 1;
}

SlotId FunctionBuilder::newTemporary(RankedTensorType type, const Dims &dims) {
  if (!type.hasStaticShape())
    return addSlot(Slot::Kind::Dynamic, type, dims);
  SlotId slot = addSlot(Slot::Kind::Arena, type, dims);
  temporaryOf[slot] = temporaries.size();
  temporaries.push_back({slot, {result.slots[slot].bytes, position, position}});
  return slot;
}

FunctionBuilder::Dims FunctionBuilder::dimsOf(Value value) const {
  auto it = dynamicDims.find(value);
  if (it != dynamicDims.end())
    return it->second;
  Dims dims;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape()) {
    assert(!ShapedType::isDynamic(size) && "sizes of a dynamic value must have been recorded");
    dims.push_back(Dim::constant(size));
  }
  return dims;
}

FunctionBuilder::Dims FunctionBuilder::freshDims(RankedTensorType type) {
  Dims dims;
  for (int64_t size : type.getShape())
    dims.push_back(ShapedType::isDynamic(size) ? Dim::runtime(result.numDims++) : Dim::constant(size));
  return dims;
}

void FunctionBuilder::assignDims(const Dims &to, const Dims &from, Location loc) {
  SetDimsStep step;
  for (auto [target, source] : llvm::zip_equal(to, from)) {
    if (!target.isRuntime)
      require({DimExpr::of(source), SizeCheck::Relation::Equal, DimExpr::of(target)}, loc, step);
    else if (!(target == source))
      step.entries.push_back({(uint32_t)target.value, kNone, 0, DimExpr::of(source)});
  }
  if (!step.entries.empty() || !step.checks.empty())
    emit({std::move(step)}, loc);
}

SlotId FunctionBuilder::slotFor(Value value, SlotId reused) {
  auto type = cast<RankedTensorType>(value.getType());
  auto it = preferred.find(value);
  SlotId slot;
  if (it != preferred.end()) {
    slot = it->second;
    if (!type.hasStaticShape())
      dynamicDims[value] = Dims(result.slots[slot].dims.begin(), result.slots[slot].dims.end());
  } else if (SlotId place = placeInJoin(value); place != kNone) {
    slot = place;
  } else if (reused != kNone) {
    slot = reused;
  } else {
    if (!type.hasStaticShape())
      dynamicDims.try_emplace(value, freshDims(type));
    slot = newTemporary(type, dimsOf(value));
  }
  // A result may be an alias with another type: steps other than kernels read the type.
  bool isSameType = result.slots[slot].dtype == dtypeOf(type.getElementType());
  slots[value] = isSameType ? slot : viewOf(slot, 0, type);
  touch(slot);
  return slot;
}

SlotId FunctionBuilder::use(Value value) {
  auto it = slots.find(value);
  assert(it != slots.end() && "a value is used before its step was emitted");
  touch(it->second);
  return it->second;
}

bool FunctionBuilder::hasTypeOf(SlotId slot, Value value) const {
  const Slot &base = result.slots[slot];
  Dims dims = dimsOf(value);
  return base.dtype == dtypeOf(getElementTypeOrSelf(value.getType())) && ArrayRef<Dim>(base.dims.data(), base.dims.size()) == ArrayRef<Dim>(dims);
}

SlotId FunctionBuilder::useWithShape(Value value) {
  SlotId slot = use(value);
  if (hasTypeOf(slot, value))
    return slot;
  auto type = cast<RankedTensorType>(value.getType());
  if (result.slots[slot].isStatic() && type.hasStaticShape())
    return viewOf(slot, 0, type);
  SlotId own = newTemporary(type, dimsOf(value)); // the address of a value with open sizes changes, so it has no views
  copy(slot, own, value.getLoc());
  return own;
}

void FunctionBuilder::touch(SlotId slot) {
  if (result.slots[slot].kind == Slot::Kind::View)
    slot = result.slots[slot].index;
  if (result.slots[slot].kind == Slot::Kind::Result)
    resultsFrom.insert({slot, loops.empty() ? position : loops.front().begin});
  auto it = temporaryOf.find(slot);
  if (it == temporaryOf.end())
    return;
  Lifetime &lifetime = temporaries[it->second].lifetime;
  lifetime.last = std::max(lifetime.last, position);
  for (OpenLoop &loop : loops)
    if (lifetime.first < loop.begin)
      loop.outer.push_back(slot);
}

void FunctionBuilder::emit(Step step, Location loc) {
  step.location = context.locations.index(loc);
  steps->push_back(std::move(step));
  ++position;
}

uint32_t FunctionBuilder::argumentRead(SlotId slot) const {
  const Slot &base = result.slots[slot].kind == Slot::Kind::View ? result.slots[result.slots[slot].index] : result.slots[slot];
  return base.kind == Slot::Kind::Argument ? base.index : kNone;
}

uint32_t FunctionBuilder::argumentWritten(SlotId slot) const {
  bool isResult = isEntry && result.slots[slot].kind == Slot::Kind::Result;
  return isResult ? context.program.results[result.slots[slot].index].aliasArgument : kNone;
}

bool FunctionBuilder::isSameMemory(SlotId from, SlotId to) const {
  return from == to || (result.slots[from].kind == Slot::Kind::Argument && argumentWritten(to) == argumentRead(from));
}

void FunctionBuilder::copy(SlotId from, SlotId to, Location loc) {
  if (isSameMemory(from, to))
    return;
  touch(from);
  touch(to);
  emit({CopyStep{from, to}}, loc);
}

SmallVector<SlotId> FunctionBuilder::useAll(ValueRange values) {
  SmallVector<SlotId> ids;
  for (Value value : values)
    if (isTensor(value))
      ids.push_back(use(value));
  return ids;
}

SmallVector<SlotId> FunctionBuilder::slotsForAll(ValueRange values) {
  SmallVector<SlotId> ids;
  for (Value value : values)
    if (isTensor(value))
      ids.push_back(slotFor(value));
  return ids;
}

static void patchArenaOffsets(Steps &steps, ArrayRef<uint64_t> offsets) {
  for (Step &step : steps) {
    if (auto *call = std::get_if<CallStep>(&step.body))
      call->arenaOffset = offsets[call->arenaOffset];
    else if (auto *loop = std::get_if<LoopStep>(&step.body)) {
      patchArenaOffsets(loop->cond, offsets);
      patchArenaOffsets(loop->body, offsets);
    } else if (auto *cond = std::get_if<CondStep>(&step.body)) {
      for (Steps &branch : cond->branches)
        patchArenaOffsets(branch, offsets);
    }
  }
}

void FunctionBuilder::useResultMemory() {
  std::vector<ResultMemory> results;
  SmallVector<SlotId> resultSlots;
  for (auto [slot, from] : resultsFrom)
    if (argumentWritten(slot) == kNone && result.slots[slot].isStatic()) {
      results.push_back({result.slots[slot].bytes, from});
      resultSlots.push_back(slot);
    }
  std::vector<Lifetime> lifetimes;
  std::vector<bool> movable;
  for (const Temporary &temporary : temporaries) {
    lifetimes.push_back(temporary.lifetime);
    // The runtime swaps the addresses of a loop's states, so they cannot be views.
    movable.push_back(temporary.slot != kNone && !llvm::is_contained(exchanged, temporary.slot) && !llvm::is_contained(updatedStates, temporary.slot));
  }
  std::vector<std::optional<PlaceInResult>> places = placeInResults(lifetimes, movable, results, context.nearBytes);
  llvm::DenseMap<SlotId, PlaceInResult> moved;
  for (auto [temporary, place] : llvm::zip_equal(temporaries, places))
    if (place)
      moved[temporary.slot] = *place;
  if (moved.empty())
    return;
  for (auto [id, slot] : llvm::enumerate(result.slots)) {
    bool isView = slot.kind == Slot::Kind::View;
    auto found = moved.find(isView ? SlotId(slot.index) : SlotId(id));
    if (found == moved.end())
      continue;
    slot.offset = found->second.offset + (isView ? slot.offset : 0);
    slot.index = resultSlots[found->second.result];
    slot.kind = Slot::Kind::View;
  }
}

void FunctionBuilder::finishMemory() {
  std::vector<Lifetime> ofGathers;
  for (SlotId slot : gathered)
    if (auto it = temporaryOf.find(slot); it != temporaryOf.end())
      ofGathers.push_back(temporaries[it->second].lifetime);
  context.gatheredBytes = planMemory(ofGathers).lowerBound;
  // Results of functions other than the entry are stored where their callers want them.
  if (isEntry)
    useResultMemory();
  std::vector<Lifetime> lifetimes;
  std::vector<size_t> inArena(temporaries.size()); // the index of each in `lifetimes`
  for (auto [number, temporary] : llvm::zip_equal(inArena, temporaries)) {
    number = lifetimes.size();
    if (temporary.slot == kNone || result.slots[temporary.slot].kind == Slot::Kind::Arena)
      lifetimes.push_back(temporary.lifetime);
  }
  MemoryPlan plan = planMemory(lifetimes);
  for (auto [number, temporary] : llvm::zip_equal(inArena, temporaries))
    if (temporary.slot != kNone && result.slots[temporary.slot].kind == Slot::Kind::Arena)
      result.slots[temporary.slot].offset = plan.offsets[number];
  std::vector<uint64_t> callOffsets;
  for (uint32_t temporary : calleeArenas)
    callOffsets.push_back(plan.offsets[inArena[temporary]]);
  patchArenaOffsets(result.steps, callOffsets);
  result.arenaBytes = plan.arenaBytes;
  context.liveBytes.push_back(plan.lowerBound);
}

/// Returns the result of a call, loop or collective that may be stored where `value` is wanted: `value`, or the value of which it is a reshape if a
/// kernel computes that (kernels do not read the shapes of their buffers). Null if there is none.
Value FunctionBuilder::producedAs(Value value) const {
  if (isa_and_nonnull<func::CallOp, stablehlo::WhileOp, stablehlo::AllReduceOp, stablehlo::AllGatherOp, stablehlo::ReduceScatterOp,
                      stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
                      stablehlo::AsyncDoneOp>(value.getDefiningOp()))
    return value;
  // Custom calls that work in an operand's memory say so.
  if (auto call = value.getDefiningOp<stablehlo::CustomCallOp>())
    return call.getOutputOperandAliasesAttr() && !call.getOutputOperandAliasesAttr().empty() ? Value() : value;
  Type wanted = getElementTypeOrSelf(value.getType());
  while (Operation *rename = value.getDefiningOp()) {
    if (!isa<stablehlo::ReshapeOp, AliasOp>(rename))
      break;
    if (!fusion::isAlias(rename))
      return {};
    value = rename->getOperand(0);
  }
  auto call = value.getDefiningOp<func::CallOp>();
  auto kernel = call ? context.kernels.find(call.getCallee()) : context.kernels.end();
  if (kernel == context.kernels.end())
    return {};
  // The operand that a kernel updates is copied there first, by a step that reads types.
  bool isOtherType = getElementTypeOrSelf(value.getType()) != wanted;
  return isOtherType && !kernel->second.inPlace.empty() ? Value() : value;
}

LogicalResult FunctionBuilder::build() {
  Block &body = function.getBody().front();
  SmallVector<BlockArgument> arguments;
  if (isEntry && function->hasAttr(kRowsAttr))
    result.numDims = kRowsDim + 1; // openRows() sets it
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    if (!isTensor(argument))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    Dims dims = freshDims(type);
    for (auto [axis, dim] : llvm::enumerate(dims))
      if (dim.isRuntime) {
        result.dimBindings.push_back({(uint32_t)dim.value, (uint32_t)result.arguments.size(), (uint32_t)axis, {}});
        definitions[dim.value] = DimExpr::dim(dim.value);
      }
    if (!type.hasStaticShape())
      dynamicDims[argument] = dims;
    SlotId slot = addSlot(Slot::Kind::Argument, type, dims, result.arguments.size());
    slots[argument] = slot;
    result.arguments.push_back(slot);
    arguments.push_back(argument);
  }
  // A returned value is stored in its result buffer directly if the step that computes it allows that.
  auto ret = cast<func::ReturnOp>(body.getTerminator());
  for (Value value : ret.getOperands()) {
    if (!isTensor(value))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    SlotId slot = addSlot(Slot::Kind::Result, type, freshDims(type), result.results.size());
    result.results.push_back(slot);
    if (uint32_t replaced = argumentWritten(slot); replaced != kNone)
      planReplacement(arguments[replaced], value, slot);
    else if (Value made = producedAs(value); made && preferred.try_emplace(made, slot).second)
      preferUpdates(made, slot);
  }
  if (failed(visitBlock(body)))
    return failure();
  finishMemory();
  return success();
}

} // namespace millrace::lowering

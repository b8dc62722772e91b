// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockGraph.cpp - A block of kernel calls as a graph of steps --------===//
#include "lowering/program/BlockGraph.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/LoopStates.h"
#include "lowering/program/MemoryPlan.h"
#include "lowering/program/ContiguousBytes.h"
#include "lowering/program/PointwisePairs.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/spmd/Communication.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {

/// Returns true if the loop returns the operand unchanged.
static bool isKept(shlo::WhileOp loop, unsigned index) {
  Block &body = loop.getBody().front();
  return body.getTerminator()->getOperand(index) == body.getArgument(index);
}

void readersOf(Value value, SmallVectorImpl<OpOperand *> &readers) {
  for (OpOperand &use : value.getUses()) {
    bool isAlias = fusion::isAlias(use.getOwner());
    if (!isAlias)
      readers.push_back(&use);
    auto loop = dyn_cast<shlo::WhileOp>(use.getOwner());
    if (isAlias || (loop && isKept(loop, use.getOperandNumber())))
      readersOf(use.getOwner()->getResult(use.getOperandNumber()), readers);
  }
}

Value rootOf(Value value) {
  for (Operation *maker = value.getDefiningOp(); maker && fusion::isAlias(maker); maker = value.getDefiningOp())
    value = maker->getOperand(cast<OpResult>(value).getResultNumber());
  return value;
}

const KernelTraits::Kernel *KernelTraits::of(Operation *op) {
  auto call = dyn_cast_or_null<func::CallOp>(op);
  if (!call)
    return nullptr;
  StringAttr name = call.getCalleeAttr().getAttr();
  auto [it, isNew] = known.try_emplace(name);
  if (isNew) {
    auto function = symbols.lookup<func::FuncOp>(name);
    if (function && function->hasAttr(kKernelAttr)) {
      it->second = std::make_unique<Kernel>();
      Kernel &kernel = *it->second;
      kernel.inPlace = fusion::inPlacePairs(function);
      kernel.pointwise = pointwisePairs(function);
      kernel.isPart = contiguousSliceOffset(function).has_value();
      kernel.isJoin = !contiguousOperandOffsets(function).empty();
    }
  }
  return it->second.get();
}

namespace {

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

uint64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return arenaBytesOf(runtime::byteSize(dtypeOf(type.getElementType())) * type.getNumElements());
}

/// Returns true if its execution is visible to others: collectives, transfers, custom calls, calls of functions and regions that may contain such.
bool isVisible(Operation *op, KernelTraits &kernels) {
  if (kernels.of(op) || fusion::isAlias(op) ||
      isa<shlo::ConstantOp, shlo::PartitionIdOp, shlo::ReplicaIdOp, shlo::AfterAllOp, shlo::CreateTokenOp>(op))
    return false;
  if (isa<shlo::WhileOp, shlo::CaseOp, shlo::IfOp>(op))
    return llvm::any_of(op->getRegions(), [&](Region &region) {
      return llvm::any_of(region.front().without_terminator(), [&](Operation &inner) { return isVisible(&inner, kernels); });
    });
  return true;
}

class Builder {
public:
  Builder(Block &block, const BlockTargets &targets, KernelTraits &kernels, llvm::function_ref<uint64_t(Operation *)> innerPeak)
      : block(block), targets(targets), kernels(kernels), innerPeak(innerPeak) {}

  GraphValues values;

  std::optional<StepGraph> run() {
    for (Operation &op : block.without_terminator()) {
      for (Value value : op.getResults())
        if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.hasStaticShape())
          return std::nullopt;
      steps[&op] = steps.size();
    }
    graph.steps.resize(steps.size());
    placeResults();
    Operation *visible = nullptr, *collective = nullptr;
    for (Operation &op : block.without_terminator()) {
      now = steps.lookup(&op);
      readAll(&op);
      visit(&op);
      if (isVisible(&op, kernels)) {
        if (visible)
          comesAfter(visible);
        visible = &op;
      }
      if (spmd::communicationOf(&op)) {
        if (collective)
          leaveWorkBetween(collective, &op);
        collective = &op;
      }
    }
    for (Value value : block.getTerminator()->getOperands())
      if (auto it = buffers.find(value); it != buffers.end() && graph.buffers[it->second].readersOfReplaced.empty())
        graph.buffers[it->second].isKept = true;
    for (StepGraph::Step &step : graph.steps) {
      for (std::vector<uint32_t> *list : {&step.after, &step.touches}) {
        llvm::sort(*list);
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
    }
    for (Operation &op : block.without_terminator())
      for (Value value : op.getResults())
        if (elsewhere.contains(value))
          values.elsewhere.push_back(value);
    return std::move(graph);
  }

private:
  void comesAfter(Operation *first) {
    auto it = steps.find(first);
    if (it != steps.end() && it->second < now)
      graph.steps[now].after.push_back(it->second);
  }

  void touch(Value value) {
    if (auto it = buffers.find(value); it != buffers.end())
      graph.steps[now].touches.push_back(it->second);
  }

  uint32_t newBuffer(Value value) {
    graph.buffers.push_back({bytesOf(value), false, {}});
    values.ofBuffers.push_back(value);
    graph.steps[now].touches.push_back(graph.buffers.size() - 1);
    return graph.buffers.size() - 1;
  }

  void share(Value value, Value with) {
    if (auto it = buffers.find(with); it != buffers.end()) {
      buffers[value] = it->second;
      touch(value);
    }
  }

  /// Reads the operands of the operation and of its regions.
  void readAll(Operation *op) {
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value value : read) {
      if (Operation *maker = value.getDefiningOp())
        comesAfter(maker);
      touch(value);
    }
  }

  /// Creates memory for the result of a step: shared with other values, part of a concatenation, an argument's, or its own.
  void make(Value value) {
    if (!isTensor(value) || elsewhere.contains(value))
      return;
    if (Value joined = joinOf(value)) {
      startedJoins.insert(joined);
      if (elsewhere.contains(joined))
        return;
      if (!buffers.contains(joined))
        buffers[joined] = newBuffer(joined);
      isShared.insert(buffers.lookup(joined));
      share(value, joined);
      return;
    }
    uint32_t buffer = buffers[value] = newBuffer(value);
    auto found = replacing.find(value);
    if (found == replacing.end())
      return;
    SmallVector<OpOperand *> readers;
    readersOf(found->second, readers);
    for (OpOperand *reader : readers)
      graph.buffers[buffer].readersOfReplaced.push_back(steps.lookup(block.findAncestorOpInBlock(*reader->getOwner())));
    llvm::sort(graph.buffers[buffer].readersOfReplaced);
    // A step that reads the replaced argument, but not elementwise, stores its result elsewhere until it is done.
    auto call = value.getDefiningOp<func::CallOp>();
    bool isRead = llvm::is_contained(graph.buffers[buffer].readersOfReplaced, now);
    if (isRead && !(call && isPointwise(call, readers, value)))
      addExtra(value);
  }

  /// Adds memory for the value while the step runs.
  void addExtra(Value value) {
    graph.steps[now].extra += bytesOf(value);
    values.extras.push_back({now, value, bytesOf(value)});
  }

  /// Returns true if, of `readers`, `call` has a single operand and reads element i of it for element i of `result` only.
  bool isPointwise(func::CallOp call, ArrayRef<OpOperand *> readers, Value result) {
    OpOperand *only = nullptr;
    for (OpOperand *reader : readers)
      if (reader->getOwner() == call) {
        if (only)
          return false;
        only = reader;
      }
    return only && llvm::any_of(kernels.of(call)->pointwise, [&](auto pair) {
      return pair.first == only->getOperandNumber() && call.getResult(pair.second) == result;
    });
  }

  /// Returns the concatenation in whose memory `value` is computed (FunctionBuilder::placeInJoin); null if there is none.
  Value joinOf(Value value) {
    if (!kernels.of(value.getDefiningOp()))
      return {};
    while (value.hasOneUse() && isa<shlo::ReshapeOp>(*value.user_begin()) && fusion::isAlias(*value.user_begin()))
      value = value.user_begin()->getResult(0);
    Operation *join = value.hasOneUse() ? *value.user_begin() : nullptr;
    const KernelTraits::Kernel *kernel = kernels.of(join);
    bool isJoined = kernel && kernel->isJoin && join->getBlock() == &block && !replacing.contains(join->getResult(0));
    return isJoined ? join->getResult(0) : Value();
  }

  bool isReadByKernelsOnly(Value value) {
    SmallVector<OpOperand *> readers;
    readersOf(value, readers);
    return llvm::all_of(readers, [&](OpOperand *reader) { return kernels.of(reader->getOwner()); });
  }

  /// Adds edges so that all earlier readers of `value` stay before its update `op`.
  void updates(Value value) {
    SmallVector<OpOperand *> readers;
    readersOf(value, readers);
    for (OpOperand *reader : readers)
      if (Operation *here = block.findAncestorOpInBlock(*reader->getOwner()))
        comesAfter(here);
  }

  /// Adds edges so that the operands of `second` are computed while `first` runs, as in the given order: before the result of `first` is read.
  void leaveWorkBetween(Operation *first, Operation *second) {
    SmallVector<OpOperand *> readers;
    for (Value result : first->getResults())
      readersOf(result, readers);
    for (Value operand : second->getOperands()) {
      Operation *maker = rootOf(operand).getDefiningOp();
      auto made = maker ? steps.find(maker) : steps.end();
      for (OpOperand *reader : readers) {
        auto read = steps.find(block.findAncestorOpInBlock(*reader->getOwner()));
        if (made != steps.end() && read != steps.end() && made->second < read->second)
          graph.steps[read->second].after.push_back(made->second);
      }
    }
  }

  void visit(Operation *op) {
    if (fusion::isAlias(op)) {
      for (auto [operand, renamed] : llvm::zip_equal(op->getOperands(), op->getResults()))
        if (isTensor(operand))
          share(renamed, operand);
      return;
    }
    if (auto constant = dyn_cast<shlo::ConstantOp>(op))
      return visitConstant(constant);
    if (auto loop = dyn_cast<shlo::WhileOp>(op))
      return visitLoop(loop);
    if (const KernelTraits::Kernel *kernel = kernels.of(op))
      return visitKernel(cast<func::CallOp>(op), *kernel);
    graph.steps[now].extra += innerPeak(op);
    for (Value value : op->getResults()) {
      if (Value updated = isa<shlo::IfOp, shlo::CaseOp>(op) ? updatedBy(value) : Value())
        updates(updated);
      make(value);
    }
  }

  /// Large splat constants are filled where they are used.
  void visitConstant(shlo::ConstantOp op) {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    bool isStart = llvm::all_of(op->getUses(), [&](OpOperand &use) {
      const KernelTraits::Kernel *kernel = kernels.of(use.getOwner());
      return isa<shlo::WhileOp>(use.getOwner()) ||
             (kernel && llvm::any_of(kernel->inPlace, [&](auto pair) { return pair.first == use.getOperandNumber(); }));
    });
    if (value && value.isSplat() && bytesOf(op->getResult(0)) > kLargestStoredSplat && !isStart)
      make(op->getResult(0));
  }

  void visitKernel(func::CallOp call, const KernelTraits::Kernel &kernel) {
    if (kernel.isPart && !elsewhere.contains(call.getResult(0)) && !replacing.contains(call.getResult(0)) &&
        !isDonated(call.getOperand(0)) && isReadByKernelsOnly(call.getResult(0))) {
      share(call.getResult(0), call.getOperand(0));
      if (auto it = buffers.find(call.getResult(0)); it != buffers.end())
        isShared.insert(it->second);
      return;
    }
    if (kernel.isJoin && startedJoins.contains(call.getResult(0)))
      return touch(call.getResult(0));
    for (auto [operandIndex, resultIndex] : kernel.inPlace) {
      Value operand = call.getOperand(operandIndex), result = call.getResult(resultIndex);
      updates(operand);
      bool dies = operand.hasOneUse() && kernels.of(operand.getDefiningOp()) && operand.getDefiningOp()->getBlock() == &block;
      if (dies && buffers.contains(operand) && !elsewhere.contains(result) && !replacing.contains(result))
        share(result, operand);
    }
    for (Value value : call.getResults())
      if (!buffers.contains(value))
        make(value);
    llvm::SmallDenseSet<unsigned> overwritten, placed;
    for (auto [operandIndex, resultIndex] : kernel.pointwise) {
      Value operand = call.getOperand(operandIndex), result = call.getResult(resultIndex);
      auto from = buffers.find(operand), to = buffers.find(result);
      SmallVector<OpOperand *> readers;
      if (from == buffers.end() || to == buffers.end() || from->second == to->second || isShared.contains(from->second) || isShared.contains(to->second))
        continue;
      readersOf(rootOf(operand), readers);
      if (isPointwise(call, readers, result) && !overwritten.contains(operandIndex) && !placed.contains(resultIndex)) {
        overwritten.insert(operandIndex);
        placed.insert(resultIndex);
        graph.steps[now].inPlace.push_back({from->second, to->second});
      }
    }
  }

  bool isDonated(Value value) {
    return llvm::is_contained(targets.replaced, value);
  }

  void visitLoop(shlo::WhileOp loop) {
    Block &body = loop.getBody().front();
    graph.steps[now].extra += innerPeak(loop);
    auto taken = takenStates(loop, [this](Value value) { return updatedBy(value); }, [this](BlockArgument state, Value value) { return isUpdateOf(value, state); });
    for (auto [index, init, result] : llvm::enumerate(loop->getOperands(), loop->getResults())) {
      if (!isTensor(init))
        continue;
      Value next = body.getTerminator()->getOperand(index);
      if (isKept(loop, index)) {
        share(result, init);
        continue;
      }
      updates(init);
      bool isUpdated = isUpdateOf(next, body.getArgument(index));
      bool ownsInit = init.hasOneUse() && isa_and_nonnull<func::CallOp>(init.getDefiningOp()) && init.getDefiningOp()->getBlock() == &block &&
                      buffers.contains(init);
      if (!isUpdated && !taken[index])
        addExtra(result);
      if (isUpdated && elsewhere.contains(result))
        continue;
      if (ownsInit)
        share(result, init);
      else
        buffers[result] = newBuffer(result);
      isShared.insert(buffers.lookup(result));
    }
  }

  /// Returns true if kernels or loops compute `value` from `state` by updates in its memory.
  bool isUpdateOf(Value value, BlockArgument state) {
    while (value != state) {
      Value updated = updatedBy(value);
      bool isInBranches = isa_and_nonnull<shlo::IfOp, shlo::CaseOp>(value.getDefiningOp());
      if (!updated || (updated != state && !updated.hasOneUse() && !isInBranches))
        return false;
      value = updated;
    }
    return true;
  }

  Value updatedBy(Value value) {
    auto made = dyn_cast<OpResult>(value);
    if (!made)
      return {};
    if (auto loop = dyn_cast<shlo::WhileOp>(made.getOwner())) {
      Block &body = loop.getBody().front();
      Value next = body.getTerminator()->getOperand(made.getResultNumber());
      BlockArgument state = body.getArgument(made.getResultNumber());
      return isTensor(value) && next != state && isUpdateOf(next, state) ? loop->getOperand(made.getResultNumber()) : Value();
    }
    if (isa<shlo::IfOp, shlo::CaseOp>(made.getOwner()))
      return isTensor(value) ? updatedByBranches(made, [this](Value each) { return updatedBy(each); }) : Value();
    if (const KernelTraits::Kernel *kernel = kernels.of(made.getOwner()))
      for (auto [operand, result] : kernel->inPlace)
        if (result == made.getResultNumber())
          return made.getOwner()->getOperand(operand);
    return {};
  }

  /// Marks the values that are computed in the memory of the block's results or of an argument.
  void placeResults() {
    if (targets.kind == BlockTargets::Elsewhere)
      return;
    for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (!isTensor(value))
        continue;
      BlockArgument argument = index < targets.replaced.size() ? targets.replaced[index] : BlockArgument();
      Value made = producedAs(value);
      if (!made || elsewhere.contains(made) || replacing.contains(made))
        continue;
      if (argument && !isUpdateOf(made, argument)) {
        SmallVector<OpOperand *> readers;
        readersOf(argument, readers);
        bool isReturned = llvm::any_of(readers, [&](OpOperand *reader) { return reader->getOwner() == block.getTerminator(); });
        if (!isReturned && readers.empty())
          elsewhere.insert(made);
        else if (!isReturned && (kernels.of(made.getDefiningOp()) || spmd::communicationOf(made.getDefiningOp()) ||
                                 isa<shlo::AsyncDoneOp>(made.getDefiningOp())))
          replacing[made] = argument;
        continue;
      }
      // Values that become the result by updates in place or elementwise replacement share its memory (FunctionBuilder::preferUpdates).
      for (Value each = made; each && each.getDefiningOp() && elsewhere.insert(each).second;) {
        Value replaced = updatedBy(each);
        const KernelTraits::Kernel *kernel = kernels.of(each.getDefiningOp());
        if (!replaced && kernel)
          for (auto [operandIndex, resultIndex] : kernel->pointwise) {
            Value operand = each.getDefiningOp()->getOperand(operandIndex);
            if (each.getDefiningOp()->getResult(resultIndex) == each && isMadeForItsUser(operand) && !isa<shlo::WhileOp>(operand.getDefiningOp()))
              replaced = operand;
          }
        each = replaced && isMadeForItsUser(replaced) ? replaced : Value();
      }
    }
  }

  /// Returns true if a kernel, a collective or a loop of this block computes it and it has a single user.
  bool isMadeForItsUser(Value value) {
    Operation *maker = value.getDefiningOp();
    return value.hasOneUse() && maker && maker->getBlock() == &block &&
           (isa<shlo::WhileOp, shlo::AsyncDoneOp>(maker) || spmd::communicationOf(maker) || kernels.of(maker));
  }

  /// FunctionBuilder::producedAs.
  Value producedAs(Value value) {
    Operation *maker = value.getDefiningOp();
    if (targets.kind == BlockTargets::Inner)
      return isa_and_nonnull<func::CallOp>(maker) && maker->getBlock() == &block ? value : Value();
    while (maker && isa<shlo::ReshapeOp, AliasOp>(maker) && fusion::isAlias(maker)) {
      value = maker->getOperand(0);
      maker = value.getDefiningOp();
    }
    bool isMade = maker && maker->getBlock() == &block && !fusion::isAlias(maker) && !isa<shlo::ConstantOp, shlo::CaseOp, shlo::IfOp>(maker);
    return isMade ? value : Value();
  }

  Block &block;
  const BlockTargets &targets;
  KernelTraits &kernels;
  llvm::function_ref<uint64_t(Operation *)> innerPeak;
  StepGraph graph;
  uint32_t now = 0; ///< the current step
  llvm::DenseMap<Operation *, uint32_t> steps;
  llvm::DenseMap<Value, uint32_t> buffers; ///< of values that have memory in the arena
  llvm::DenseSet<Value> elsewhere;         ///< computed in memory that is allocated anyway
  llvm::DenseMap<Value, BlockArgument> replacing;
  llvm::DenseSet<uint32_t> isShared;       ///< buffers that no kernel reuses: of parts, of concatenations, of loops
  llvm::DenseSet<Value> startedJoins; ///< concatenations into which a step has written
};

} // namespace

std::optional<StepGraph> graphOf(Block &block, const BlockTargets &targets, KernelTraits &kernels,
                                 llvm::function_ref<uint64_t(Operation *)> innerPeak, GraphValues *values) {
  Builder builder(block, targets, kernels, innerPeak);
  std::optional<StepGraph> graph = builder.run();
  if (values)
    *values = std::move(builder.values);
  return graph;
}

} // namespace millrace::lowering

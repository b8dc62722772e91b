// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportEdges.cpp - Edges, constraints and groups before propagation -===//
// Input:   %1:2 = stablehlo.while(...) ... ; %2 = sdy.sharding_constraint %x <@mesh, [{"a"}]>
// Output:  %e0 = sdy.data_flow_edge %1#0 ; ... ; the definition of %x has the sharding [{"a"}]
// Leaves alone values that are sharded already, and results that are no tensors.
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
#define GEN_PASS_DEF_ADDDATAFLOWEDGESPASS
#define GEN_PASS_DEF_ADDFUNCDATAFLOWEDGESPASS
#define GEN_PASS_DEF_APPLYSHARDINGCONSTRAINTSPASS
#define GEN_PASS_DEF_SINKFUNCDATAFLOWEDGESPASS
#define GEN_PASS_DEF_SHARDINGGROUPIMPORTPASS
#include "passes/sharding/Passes.h.inc"

namespace {

//===-- Edges -------------------------------------------------------------===//

/// The sharding that the owner has before there is an edge; inside a manual computation without the manual axes.
sdy::TensorShardingAttr ownSharding(Value owner) {
  auto argument = dyn_cast<BlockArgument>(owner);
  if (!argument)
    return sdy::getSharding(owner);
  Operation *parent = argument.getOwner()->getParentOp();
  auto list = parent->getAttrOfType<sdy::TensorShardingPerValueAttr>("in_shardings");
  if (!list)
    return {};
  sdy::TensorShardingAttr sharding = list.getShardings()[argument.getArgNumber()];
  auto manual = dyn_cast<sdy::ManualComputationOp>(parent);
  if (!manual)
    return sharding;
  auto isFree = [&](sdy::AxisRefAttr axis) {
    return llvm::none_of(manual.getManualAxes(), [&](StringAttr name) { return name.getValue() == axis.getName(); });
  };
  auto keep = [&](ArrayRef<sdy::AxisRefAttr> axes) {
    return SmallVector<sdy::AxisRefAttr>(llvm::make_filter_range(axes, isFree));
  };
  auto dims = llvm::map_to_vector(sharding.getDimShardings(), [&](sdy::DimensionShardingAttr dim) {
    SmallVector<sdy::AxisRefAttr> axes = keep(dim.getAxes());
    auto priority = axes.empty() && dim.getIsClosed() ? std::nullopt : dim.getPriority();
    return sdy::DimensionShardingAttr::get(dim.getContext(), axes, dim.getIsClosed(), priority);
  });
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims,
                                      keep(sharding.getReplicatedAxes()), keep(sharding.getUnreducedAxes()),
                                      sharding.getReductionOp());
}

/// An edge for every value that crosses the border of a function that is called.
void addFunctionEdges(ModuleOp module) {
  OpBuilder builder(module.getContext());
  auto add = [&](Value value) {
    auto shaped = dyn_cast<ShapedType>(value.getType());
    if (!shaped || !shaped.hasStaticShape())
      return;
    builder.setInsertionPointAfterValue(value);
    auto edge = sdy::FuncDataFlowEdgeOp::create(builder, value.getLoc(), value.getType(), value);
    if (sdy::TensorShardingAttr sharding = sdy::getSharding(value))
      edge->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(value.getContext(), {sharding}));
    value.replaceAllUsesExcept(edge.getResult(), edge);
  };
  llvm::SetVector<Operation *> called;
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    calls.push_back(call);
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()); callee && !callee.isExternal())
      called.insert(callee);
  });
  // Last first, so that edges come in the order of their values.
  for (func::CallOp call : calls)
    for (Value result : llvm::reverse(call->getResults()))
      add(result);
  for (Operation *function : called)
    for (Value argument : llvm::reverse(cast<func::FuncOp>(function).getArguments()))
      add(argument);
}

struct AddFuncDataFlowEdges : impl::AddFuncDataFlowEdgesPassBase<AddFuncDataFlowEdges> {
  void runOnOperation() override { addFunctionEdges(getOperation()); }
};

struct SinkFuncDataFlowEdges : impl::SinkFuncDataFlowEdgesPassBase<SinkFuncDataFlowEdges> {
  void runOnOperation() override {
    getOperation().walk([](sdy::FuncDataFlowEdgeOp edge) {
      Value value = edge.getOperand();
      auto all = edge->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
      edge.replaceAllUsesWith(value);
      edge.erase();
      if (all && all.getShardings().size() == 1)
        setSharding(value, all.getShardings()[0]);
    });
  }
};

struct AddDataFlowEdges : impl::AddDataFlowEdgesPassBase<AddDataFlowEdges> {
  using Base::Base;
  void runOnOperation() override {
    if (atFunctions)
      addFunctionEdges(getOperation());
    SmallVector<Value> owners;
    getOperation().walk([&](Operation *op) { llvm::append_range(owners, edgeOwners(op)); });
    OpBuilder builder(&getContext());
    // Last first, so that edges come in the order of their owners.
    for (Value owner : llvm::reverse(owners)) {
      auto shaped = dyn_cast<ShapedType>(owner.getType());
      if (!shaped || !shaped.hasStaticShape() || edgeOp(owner))
        continue;
      builder.setInsertionPointAfterValue(owner);
      auto edge = sdy::DataFlowEdgeOp::create(builder, owner.getLoc(), owner.getType(), owner, ownSharding(owner));
      owner.replaceAllUsesExcept(edge.getResult(), edge);
    }
  }
};

//===-- Constraints -------------------------------------------------------===//

/// The sharding that the use asks for: of a constraint, or of an operand of a manual computation.
sdy::TensorShardingAttr askedBy(OpOperand &use) {
  if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(use.getOwner()))
    return constraint.getSharding();
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(use.getOwner()))
    return manual.getInShardings().getShardings()[use.getOperandNumber()];
  return {};
}

bool isClosed(sdy::TensorShardingAttr sharding) {
  return llvm::all_of(sharding.getDimShardings(), [](auto dim) { return dim.getIsClosed(); });
}

bool mayApply(Value input, sdy::TensorShardingAttr sharding) {
  // A value with a sharding keeps it; an edge holds that of all its targets.
  if (sdy::getSharding(input) || input.getDefiningOp<sdy::DataFlowEdgeOp>())
    return false;
  auto argument = dyn_cast<BlockArgument>(input);
  if (argument && !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return false;
  if (!isClosed(sharding))
    return false;
  return llvm::all_of(input.getUses(), [&](OpOperand &other) {
    sdy::TensorShardingAttr asked = askedBy(other);
    return !asked || asked == sharding;
  });
}

/// Returns the last of a chain of constraints without other users; null if `first` does not start one.
sdy::ShardingConstraintOp endOfChain(sdy::ShardingConstraintOp first) {
  Value input = first.getInput();
  if (input.getDefiningOp<sdy::ShardingConstraintOp>())
    return {};
  for (OpOperand &use : input.getUses())
    if (use.getOwner() != first && askedBy(use))
      return {};
  sdy::ShardingConstraintOp last = first;
  while (last.getResult().hasOneUse()) {
    auto next = dyn_cast<sdy::ShardingConstraintOp>(*last.getResult().getUsers().begin());
    if (!next)
      break;
    last = next;
  }
  bool asksOn = llvm::any_of(last.getResult().getUses(), [](OpOperand &use) { return bool(askedBy(use)); });
  return asksOn ? sdy::ShardingConstraintOp() : last;
}

/// The edge that has the sharding of the value, if there is one.
sdy::DataFlowEdgeOp edgeBehind(Value value) {
  if (auto edge = value.getDefiningOp<sdy::DataFlowEdgeOp>())
    return edge;
  Value owner = isa<BlockArgument>(value) ? edgeOwner(value) : Value();
  return owner ? edgeOp(owner) : sdy::DataFlowEdgeOp();
}

/// Constrains a value that flows through an edge where it arrives, so that all uses see the constraint; a pending sum is pending on the edge already.
void constrainEdge(OpOperand &use) {
  Operation *op = use.getOwner();
  Value input = use.get();
  sdy::DataFlowEdgeOp edge = edgeBehind(input);
  sdy::TensorShardingAttr sharding = askedBy(use);
  if (!edge || !isClosed(sharding) || input.getParentBlock() != op->getBlock() ||
      !llvm::all_of(input.getUses(), [&](OpOperand &other) {
        sdy::TensorShardingAttr asked = askedBy(other);
        return !asked || asked == sharding;
      }))
    return;
  auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op);
  if (constraint && endOfChain(constraint) != constraint)
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfterValue(input);
  if (!constraint)
    constraint = sdy::ShardingConstraintOp::create(builder, op->getLoc(), input.getType(), input, sharding);
  else
    constraint->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  input.replaceAllUsesExcept(constraint.getResult(), constraint);
  if (sharding.getUnreducedAxes().empty() || edge.getShardingAttr())
    return;
  sdy::TensorShardingAttr open = fullyOpen(sharding.getMeshOrRef(), sharding.getRank());
  edge.setShardingAttr(sdy::TensorShardingAttr::get(op->getContext(), open.getMeshOrRef(), open.getDimShardings(), {},
                                                    sharding.getUnreducedAxes(), sharding.getReductionOp()));
}

struct ApplyShardingConstraints : impl::ApplyShardingConstraintsPassBase<ApplyShardingConstraints> {
  using Base::Base;
  void runOnOperation() override {
    int64_t step = 0;
    getOperation().walk([&](Operation *op) {
      auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op);
      if (!constraint && !isa<sdy::ManualComputationOp>(op))
        return;
      bool saidNothing = constraint && !sdy::getSharding(constraint.getInput());
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<ShapedType>(operand.get().getType()))
          continue;
        if (!mayApply(operand.get(), askedBy(operand))) {
          constrainEdge(operand);
          continue;
        }
        setSharding(operand.get(), askedBy(operand));
        if (constraint && edges)
          recordStep(constraint, step);
      }
      // Of several in a row the last holds for what comes later.
      sdy::ShardingConstraintOp last = saidNothing ? endOfChain(constraint) : sdy::ShardingConstraintOp();
      if (!last || last == constraint || last->getBlock() != op->getBlock())
        return;
      constraint.getInput().replaceUsesWithIf(last.getResult(), [&](OpOperand &use) {
        return use.getOwner() != constraint && use.getOwner()->getBlock() == last->getBlock() &&
               last->isBeforeInBlock(use.getOwner()) && !isa<func::ReturnOp>(use.getOwner());
      });
    });
  }

  /// As propagation writes it down: the constraint's axes came to its input.
  static void recordStep(sdy::ShardingConstraintOp constraint, int64_t &step) {
    MLIRContext *context = constraint.getContext();
    auto from = sdy::EdgeValueRefAttr::get(context, sdy::EdgeNodeType::Result, 0);
    auto to = sdy::EdgeValueRefAttr::get(context, sdy::EdgeNodeType::Operand, 0);
    SmallVector<sdy::AxisToPropagationDetailsAttr> entries;
    for (sdy::DimensionShardingAttr dim : constraint.getSharding().getDimShardings())
      for (sdy::AxisRefAttr axis : dim.getAxes())
        entries.push_back(sdy::AxisToPropagationDetailsAttr::get(context, axis, from, to));
    if (entries.empty())
      return;
    llvm::sort(entries, [](auto a, auto b) {
      auto key = [](sdy::AxisRefAttr axis) { return std::tuple(axis.getName(), axis.getPreSize()); };
      return key(a.getAxisName()) < key(b.getAxisName());
    });
    auto one = sdy::PropagationOneStepAttr::get(context, step++, entries);
    constraint->setAttr(sdy::propagationEdgesAttrName, sdy::PropagationEdgesAttr::get(context, one));
  }
};

//===-- Groups ------------------------------------------------------------===//

/// The sharding of one member holds for the group. If members have different ones, each keeps its own, and the others follow the first.
void agree(ArrayRef<sdy::ShardingGroupOp> members, int64_t id) {
  SmallVector<std::pair<sdy::ShardingGroupOp, sdy::TensorShardingAttr>> annotated;
  for (sdy::ShardingGroupOp member : members) {
    Value value = member.getInput();
    sdy::TensorShardingAttr sharding = sdy::getSharding(value);
    if (!sharding)
      sharding = ownSharding(value);
    if (sharding)
      annotated.push_back({member, sharding});
  }
  if (annotated.empty())
    return;
  auto other = llvm::find_if(annotated, [&](auto &each) { return each.second != annotated.front().second; });
  if (other == annotated.end()) {
    for (sdy::ShardingGroupOp member : members)
      if (Value value = member.getInput(); !ownSharding(value) && !sdy::getSharding(value))
        setSharding(value, annotated.front().second);
    return;
  }
  InFlightDiagnostic warning = other->first.emitWarning("Inconsistent shardings prior to propagation for ShardingGroupOps ");
  warning << "with canonicalized groupId: " << id << ": " << other->second << "; another member has "
          << annotated.front().second;
  warning.report();
  for (auto &[member, sharding] : annotated) {
    Value value = member.getInput();
    OpBuilder builder(member.getContext());
    builder.setInsertionPointAfterValue(value);
    auto any = sdy::DimensionShardingAttr::get(builder.getContext(), {}, /*is_closed=*/false, std::nullopt);
    auto open = sdy::TensorShardingAttr::get(builder.getContext(), sharding.getMeshOrRef(),
                                             SmallVector<sdy::DimensionShardingAttr>(sharding.getRank(), any));
    auto apart = sdy::ShardingConstraintOp::create(builder, member.getLoc(), value.getType(), value, open);
    value.replaceAllUsesExcept(apart.getResult(), apart);
  }
}

/// The manual computation around an operation; in a function, the one around its first call.
struct Surroundings {
  explicit Surroundings(ModuleOp module) {
    module.walk([&](func::CallOp call) { firstCall.try_emplace(call.getCallee(), call); });
  }
  sdy::ManualComputationOp of(Operation *op) {
    if (auto inside = op->getParentOfType<sdy::ManualComputationOp>())
      return inside;
    auto function = op->getParentOfType<func::FuncOp>();
    auto [it, isNew] = ofFunction.try_emplace(function);
    auto call = function ? firstCall.find(function.getSymName()) : firstCall.end();
    if (!isNew || call == firstCall.end())
      return it->second;
    sdy::ManualComputationOp around = of(call->second);
    return ofFunction[function] = around;
  }

private:
  llvm::StringMap<func::CallOp> firstCall;
  DenseMap<func::FuncOp, sdy::ManualComputationOp> ofFunction;
};

struct ShardingGroupImport : impl::ShardingGroupImportPassBase<ShardingGroupImport> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<sdy::ShardingGroupOp> ops;
    module.walk([&](sdy::ShardingGroupOp op) { ops.push_back(op); });
    // Groups that share a value are one.
    llvm::EquivalenceClasses<int64_t> joined;
    llvm::MapVector<Value, int64_t> first;
    for (sdy::ShardingGroupOp op : ops) {
      joined.insert(op.getGroupId());
      auto [it, inserted] = first.insert({op.getInput(), op.getGroupId()});
      if (!inserted)
        joined.unionSets(it->second, op.getGroupId());
    }
    SmallVector<int64_t> ids;
    for (sdy::ShardingGroupOp op : ops)
      ids.push_back(op.getGroupId());
    llvm::MapVector<int64_t, int64_t> numbers;
    for (int64_t id : ids)
      numbers.insert({joined.getLeaderValue(id), int64_t(numbers.size())});
    struct Group {
      sdy::ManualComputationOp inside;
      ArrayRef<int64_t> shape;
      SmallVector<sdy::ShardingGroupOp> members;
    };
    llvm::MapVector<int64_t, Group> groups;
    DenseMap<Value, int64_t> known;
    Surroundings surroundings(module);
    for (sdy::ShardingGroupOp op : ops) {
      int64_t named = op.getGroupId(), id = numbers[joined.getLeaderValue(named)];
      op.setGroupId(id);
      Value input = op.getInput();
      if (!known.try_emplace(input, id).second) {
        op.erase();
        continue;
      }
      sdy::ManualComputationOp inside = surroundings.of(op);
      ArrayRef<int64_t> shape = shapeOf(input);
      auto [it, isNew] = groups.insert({id, Group{inside, shape, {}}});
      Group &group = it->second;
      if (!isNew && group.inside != inside) {
        op.emitError("ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: ") << named;
        return signalPassFailure();
      }
      if (group.shape != shape) {
        op.emitError("ShardingGroupOps values must have the same shape for groupId: ") << named;
        return signalPassFailure();
      }
      group.members.push_back(op);
    }
    for (auto &[id, group] : groups)
      agree(group.members, id);
  }
};

} // namespace
} // namespace millrace::sharding

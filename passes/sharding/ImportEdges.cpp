// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportEdges.cpp - Edges, constraints and groups before propagation -===//
// Input:   %1:2 = stablehlo.while(...) ... ; %2 = sdy.sharding_constraint %x <@mesh, [{"a"}]>
// Output:  %e0 = sdy.data_flow_edge %1#0 ; ... ; the definition of %x has the sharding [{"a"}]
// Leaves alone values that are sharded already, and results that are no tensors.
#include "passes/sharding/DataFlow.h"
#include "passes/sharding/ModuleGraph.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
#define GEN_PASS_DEF_ADDDATAFLOWEDGESPASS
#define GEN_PASS_DEF_APPLYSHARDINGCONSTRAINTSPASS
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

struct AddDataFlowEdges : impl::AddDataFlowEdgesPassBase<AddDataFlowEdges> {
  void runOnOperation() override {
    SmallVector<Value> owners;
    getOperation().getBody().walk([&](Operation *op) { llvm::append_range(owners, edgeOwners(op)); });
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

/// The last of a chain of constraints that nobody uses in between; null if `first` does not begin one.
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

struct ApplyShardingConstraints : impl::ApplyShardingConstraintsPassBase<ApplyShardingConstraints> {
  void runOnOperation() override {
    getOperation().getBody().walk([&](Operation *op) {
      if (!isa<sdy::ShardingConstraintOp, sdy::ManualComputationOp>(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (isa<ShapedType>(operand.get().getType()) && mayApply(operand.get(), askedBy(operand)))
          setSharding(operand.get(), askedBy(operand));
      auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op);
      sdy::ShardingConstraintOp last = constraint ? endOfChain(constraint) : sdy::ShardingConstraintOp();
      if (!last || last->getBlock() != op->getBlock())
        return;
      constraint.getInput().replaceUsesWithIf(last.getResult(), [&](OpOperand &use) {
        return use.getOwner() != constraint && use.getOwner()->getBlock() == last->getBlock() &&
               last->isBeforeInBlock(use.getOwner());
      });
    });
  }
};

//===-- Groups ------------------------------------------------------------===//

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
    llvm::sort(ids);
    llvm::MapVector<int64_t, int64_t> numbers;
    for (int64_t id : ids)
      numbers.insert({joined.getLeaderValue(id), int64_t(numbers.size())});
    struct Group {
      sdy::ManualComputationOp inside;
      sdy::TensorShardingAttr sharding;
      SmallVector<Value> members;
    };
    llvm::MapVector<int64_t, Group> groups;
    DenseMap<Value, int64_t> known;
    for (sdy::ShardingGroupOp op : ops) {
      int64_t id = numbers[joined.getLeaderValue(op.getGroupId())];
      op.setGroupId(id);
      Value input = op.getInput();
      if (!known.try_emplace(input, id).second) {
        op.erase();
        continue;
      }
      auto inside = op->getParentOfType<sdy::ManualComputationOp>();
      auto [it, isNew] = groups.insert({id, Group{inside, {}, {}}});
      Group &group = it->second;
      if (!isNew && group.inside != inside) {
        op.emitError("ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: ") << id;
        return signalPassFailure();
      }
      group.members.push_back(input);
      sdy::TensorShardingAttr sharding = sdy::getSharding(input);
      if (!sharding)
        continue;
      if (group.sharding && group.sharding != sharding) {
        op.emitError("Inconsistent shardings prior to propagation for ShardingGroupOps with canonicalized groupId: ") << id;
        return signalPassFailure();
      }
      group.sharding = sharding;
    }
    for (auto &[id, group] : groups)
      if (group.sharding)
        for (Value member : group.members)
          if (!sdy::getSharding(member))
            setSharding(member, group.sharding);
  }
};

} // namespace
} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataFlow.cpp - How values flow into and out of regions -------------===//
#include "passes/sharding/propagation/DataFlow.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {

/// The region's arguments own edges, too: what goes in is apart from what comes out.
static bool hasBody(Operation *op) { return isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op); }

SmallVector<Value> edgeOwners(Operation *op) {
  SmallVector<Value> owners;
  if (!isa<WhileOp, CaseOp, IfOp, OptimizationBarrierOp>(op) && !hasBody(op))
    return owners;
  if (hasBody(op))
    llvm::append_range(owners, op->getRegion(0).front().getArguments());
  llvm::append_range(owners, op->getResults());
  return owners;
}

Value edgeOwner(Value target) {
  if (auto result = dyn_cast<OpResult>(target))
    return edgeOwners(result.getOwner()).empty() ? Value() : target;
  auto argument = cast<BlockArgument>(target);
  Operation *parent = argument.getOwner()->getParentOp();
  if (hasBody(parent))
    return target;
  return isa<WhileOp>(parent) ? Value(parent->getResult(argument.getArgNumber())) : Value();
}

Value edgeOwner(OpOperand &source) {
  Operation *user = source.getOwner();
  unsigned number = source.getOperandNumber();
  if (isa<WhileOp, OptimizationBarrierOp>(user))
    return user->getResult(number);
  if (hasBody(user))
    return user->getRegion(0).front().getArgument(number);
  if (!user->hasTrait<OpTrait::IsTerminator>())
    return {};
  Operation *parent = user->getParentOp();
  bool isBody = !isa<WhileOp>(parent) || user->getParentRegion() == &parent->getRegion(1);
  if (isa<WhileOp, CaseOp, IfOp>(parent) || hasBody(parent))
    return isBody ? Value(parent->getResult(number)) : Value();
  return {};
}

SmallVector<OpOperand *> edgeSources(Value owner) {
  SmallVector<OpOperand *> sources;
  if (auto argument = dyn_cast<BlockArgument>(owner)) {
    // Into arguments of functions nothing flows that is seen here.
    if (Operation *parent = argument.getOwner()->getParentOp(); argument.getArgNumber() < parent->getNumOperands())
      sources.push_back(&parent->getOpOperand(argument.getArgNumber()));
    return sources;
  }
  Operation *op = owner.getDefiningOp();
  unsigned number = cast<OpResult>(owner).getResultNumber();
  if (isa<WhileOp, OptimizationBarrierOp>(op))
    sources.push_back(&op->getOpOperand(number));
  for (Region &region : op->getRegions())
    if (!isa<WhileOp>(op) || region.getRegionNumber() == 1)
      sources.push_back(&region.front().getTerminator()->getOpOperand(number));
  return sources;
}

SmallVector<Value> otherTargets(Value owner) {
  SmallVector<Value> targets;
  auto loop = owner.getDefiningOp<WhileOp>();
  if (!loop)
    return targets;
  for (Region &region : loop->getRegions())
    targets.push_back(region.getArgument(cast<OpResult>(owner).getResultNumber()));
  return targets;
}

sdy::DataFlowEdgeOp edgeOp(Value owner) {
  return owner.hasOneUse() ? dyn_cast<sdy::DataFlowEdgeOp>(*owner.getUsers().begin()) : sdy::DataFlowEdgeOp();
}

sdy::TensorShardingAttr withoutManual(sdy::ManualComputationOp op, sdy::TensorShardingAttr sharding) {
  auto isFree = [&](sdy::AxisRefAttr axis) {
    return llvm::none_of(op.getManualAxes(), [&](StringAttr name) { return name.getValue() == axis.getName(); });
  };
  auto keep = [&](ArrayRef<sdy::AxisRefAttr> axes) { return SmallVector<sdy::AxisRefAttr>(llvm::make_filter_range(axes, isFree)); };
  auto dims = llvm::map_to_vector(sharding.getDimShardings(), [&](sdy::DimensionShardingAttr dim) {
    return sdy::DimensionShardingAttr::get(dim.getContext(), keep(dim.getAxes()), /*is_closed=*/true, std::nullopt);
  });
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims, ArrayRef<sdy::AxisRefAttr>(),
                                      keep(sharding.getUnreducedAxes()), sharding.getReductionOp());
}

sdy::TensorShardingAttr shardingInRegion(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  auto pick = [&](std::optional<sdy::TensorShardingPerValueAttr> all) {
    return all && argument.getArgNumber() < all->getShardings().size() ? all->getShardings()[argument.getArgNumber()]
                                                                       : sdy::TensorShardingAttr();
  };
  if (auto manual = dyn_cast_or_null<sdy::ManualComputationOp>(parent)) {
    sdy::TensorShardingAttr outside = pick(manual.getInShardings());
    return outside ? withoutManual(manual, outside) : outside;
  }
  if (auto named = dyn_cast_or_null<sdy::NamedComputationOp>(parent))
    return pick(named.getInShardings());
  if (Value owner = argument ? edgeOwner(value) : Value(); owner && owner != value)
    return shardingInRegion(owner);
  return sdy::getSharding(value);
}

} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Export.cpp - After propagation: what only propagation needs goes ---===//
// Input:   %e = sdy.data_flow_edge %1 sharding=<@mesh, [{"a", ?}]> ; %2 = sdy.sharding_constraint %e <@mesh, [{"b", ?}]>
// Output:  %1 = ... {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} ; %2 = sdy.reshard %1 <@mesh, [{"b"}]>
// Leaves alone axes of values inside of functions that do not divide them: padding is the partitioner's.
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_REMOVESHARDINGGROUPSPASS
#define GEN_PASS_DEF_SHARDINGCONSTRAINTTORESHARDPASS
#define GEN_PASS_DEF_SINKDATAFLOWEDGESPASS
#define GEN_PASS_DEF_UPDATENONDIVISIBLEINPUTOUTPUTSHARDINGSPASS
#define GEN_PASS_DEF_REMOVESUBAXESININPUTOUTPUTSHARDINGSPASS
#define GEN_PASS_DEF_CLOSESHARDINGSPASS
#define GEN_PASS_DEF_DROPSHARDINGRULESPASS
#include "passes/sharding/Passes.h.inc"

namespace {

struct RemoveShardingGroups : impl::RemoveShardingGroupsPassBase<RemoveShardingGroups> {
  void runOnOperation() override {
    getOperation().walk([](sdy::ShardingGroupOp op) { op.erase(); });
  }
};

struct ShardingConstraintToReshard : impl::ShardingConstraintToReshardPassBase<ShardingConstraintToReshard> {
  void runOnOperation() override {
    getOperation().walk([](sdy::ShardingConstraintOp op) {
      OpBuilder builder(op);
      auto reshard = sdy::ReshardOp::create(builder, op.getLoc(), op.getType(), op.getInput(), op.getSharding());
      op.replaceAllUsesWith(reshard.getResult());
      op.erase();
    });
  }
};

//===-- Edges -------------------------------------------------------------===//

/// The sharding of an argument of a manual computation as it is outside: manual axes first in every dimension.
sdy::TensorShardingAttr outside(sdy::ManualComputationOp manual, unsigned number, sdy::TensorShardingAttr inside) {
  sdy::TensorShardingAttr before = manual.getInShardings().getShardings()[number];
  sdy::MeshAttr mesh = before.getMesh(manual);
  auto isManual = [&](sdy::AxisRefAttr axis) {
    return llvm::any_of(manual.getManualAxes(), [&](StringAttr name) { return name.getValue() == axis.getName(); });
  };
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (auto [old, fresh] : llvm::zip_equal(before.getDimShardings(), inside.getDimShardings())) {
    SmallVector<sdy::AxisRefAttr> axes(old.getAxes().take_while(isManual));
    llvm::append_range(axes, fresh.getAxes());
    dims.push_back(sdy::DimensionShardingAttr::get(fresh.getContext(), axes, fresh.getIsClosed(), fresh.getPriority()));
  }
  SmallVector<sdy::AxisRefAttr> replicated(inside.getReplicatedAxes());
  llvm::copy_if(before.getReplicatedAxes(), std::back_inserter(replicated), isManual);
  return withReplicated(withDims(inside, dims), replicated, mesh);
}

/// Moves the edge's debug information of propagation to one of two lists on the operation with the region.
void sinkDebugInfo(sdy::DataFlowEdgeOp edge, StringRef what) {
  auto argument = dyn_cast<BlockArgument>(edge.getInput());
  Operation *op = argument ? argument.getOwner()->getParentOp() : edge.getInput().getDefiningOp();
  for (bool isArgument : {true, false}) {
    std::string name = ((isArgument ? "sdy.block_arg_" : "sdy.result_") + what).str();
    SmallVector<Attribute> entries;
    if (auto before = op->getAttrOfType<ArrayAttr>(name))
      llvm::append_range(entries, before);
    Attribute entry = edge->getAttr(("sdy." + what).str());
    if (entry && isArgument == bool(argument))
      entries.push_back(entry);
    op->setAttr(name, ArrayAttr::get(op->getContext(), entries));
  }
}

void sink(sdy::DataFlowEdgeOp edge, bool origins, bool edges) {
  Value owner = edge.getInput();
  sdy::TensorShardingAttr sharding = edge.getShardingAttr();
  if (origins)
    sinkDebugInfo(edge, "sharding_origins");
  if (edges)
    sinkDebugInfo(edge, "propagation_edges");
  edge.replaceAllUsesWith(owner);
  edge.erase();
  if (!sharding)
    return;
  auto argument = dyn_cast<BlockArgument>(owner);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (!argument || isa<func::FuncOp>(parent)) {
    setSharding(owner, sharding);
    return;
  }
  unsigned number = argument.getArgNumber();
  SmallVector<sdy::TensorShardingAttr> all;
  if (auto before = parent->getAttrOfType<sdy::TensorShardingPerValueAttr>("in_shardings"))
    all.assign(before.getShardings().begin(), before.getShardings().end());
  else
    for (Value operand : parent->getOperands())
      all.push_back(fullyOpen(sharding.getMeshOrRef(), shapeOf(operand).size()));
  auto manual = dyn_cast<sdy::ManualComputationOp>(parent);
  all[number] = manual ? outside(manual, number, sharding) : sharding;
  parent->setAttr("in_shardings", sdy::TensorShardingPerValueAttr::get(parent->getContext(), all));
}

struct SinkDataFlowEdges : impl::SinkDataFlowEdgesPassBase<SinkDataFlowEdges> {
  using Base::Base;
  void runOnOperation() override {
    auto anyHas = [&](StringRef name) {
      return getOperation().walk([&](sdy::DataFlowEdgeOp edge) { return edge->hasAttr(name) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
    };
    bool hasOrigins = origins && anyHas("sdy.sharding_origins"), hasEdges = edges && anyHas(sdy::propagationEdgesAttrName);
    // An edge speaks for its whole operation: what results without an edge had before is gone.
    getOperation().walk([](sdy::DataFlowEdgeOp edge) {
      if (auto result = dyn_cast<OpResult>(edge.getInput()); result && edge.getShardingAttr())
        result.getOwner()->removeAttr(sdy::shardingAttrName);
    });
    getOperation().walk([&](sdy::DataFlowEdgeOp edge) { sink(edge, hasOrigins, hasEdges); });
  }
};

//===-- Inputs and outputs ------------------------------------------------===//

/// Rewrites the dimensions of the function's arguments and results.
void transformSignature(func::FuncOp function,
                        function_ref<SmallVector<sdy::AxisRefAttr>(sdy::DimensionShardingAttr, int64_t size, sdy::MeshAttr)>
                            axesOf) {
  auto change = [&](Type type, sdy::TensorShardingAttr sharding) {
    auto shaped = dyn_cast<ShapedType>(type);
    sdy::MeshAttr mesh = sharding ? sharding.getMesh(function) : sdy::MeshAttr();
    if (!mesh || !shaped || !shaped.hasStaticShape() || shaped.getRank() != sharding.getRank())
      return sharding;
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (auto [dim, size] : llvm::zip_equal(sharding.getDimShardings(), shaped.getShape()))
      dims.push_back(sdy::DimensionShardingAttr::get(dim.getContext(), axesOf(dim, size, mesh),
                                                     dim.getIsClosed(), dim.getPriority()));
    return withDims(sharding, dims);
  };
  for (BlockArgument argument : function.getArguments())
    if (auto sharding = function.getArgAttrOfType<sdy::TensorShardingAttr>(argument.getArgNumber(), sdy::shardingAttrName))
      function.setArgAttr(argument.getArgNumber(), sdy::shardingAttrName, change(argument.getType(), sharding));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (auto sharding = function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName))
      function.setResultAttr(i, sdy::shardingAttrName, change(type, sharding));
}

struct UpdateNonDivisible : impl::UpdateNonDivisibleInputOutputShardingsPassBase<UpdateNonDivisible> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    transformSignature(getOperation(), [](sdy::DimensionShardingAttr dim, int64_t size, sdy::MeshAttr mesh) {
      SmallVector<sdy::AxisRefAttr> kept;
      for (sdy::AxisRefAttr axis : dim.getAxes()) {
        int64_t parts = axis.getSize(mesh), common = std::gcd(size, parts);
        if (common == parts) {
          kept.push_back(axis);
          size /= parts;
          continue;
        }
        if (common > 1)
          kept.push_back(sdy::AxisRefAttr::get(axis.getContext(), axis.getName(),
                                               sdy::SubAxisInfoAttr::get(axis.getContext(), axis.getPreSize(), common)));
        break;
      }
      return kept;
    });
  }
};

struct RemoveSubAxes : impl::RemoveSubAxesInInputOutputShardingsPassBase<RemoveSubAxes> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    transformSignature(getOperation(), [](sdy::DimensionShardingAttr dim, int64_t, sdy::MeshAttr) {
      // A closed dimension comes from an annotation.
      if (dim.getIsClosed())
        return SmallVector<sdy::AxisRefAttr>(dim.getAxes());
      return SmallVector<sdy::AxisRefAttr>(dim.getAxes().take_while([](sdy::AxisRefAttr axis) { return !axis.getSubAxisInfo(); }));
    });
  }
};

//===-- The rest ----------------------------------------------------------===//

struct CloseShardings : impl::CloseShardingsPassBase<CloseShardings> {
  void runOnOperation() override {
    transformShardings(getOperation(), [](sdy::TensorShardingAttr sharding, Operation *user) {
      auto dims = llvm::map_to_vector(sharding.getDimShardings(), [](sdy::DimensionShardingAttr dim) {
        auto priority = dim.getAxes().empty() ? std::nullopt : dim.getPriority();
        return sdy::DimensionShardingAttr::get(dim.getContext(), dim.getAxes(), true, priority);
      });
      return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims,
                                          ArrayRef<sdy::AxisRefAttr>(), sharding.getUnreducedAxes(),
                                          sharding.getReductionOp());
    });
  }
};

struct DropShardingRules : impl::DropShardingRulesPassBase<DropShardingRules> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      auto rule = op->getAttrOfType<sdy::OpShardingRuleAttr>(sdy::shardingRuleAttrName);
      if (rule && !rule.getIsCustomRule())
        op->removeAttr(sdy::shardingRuleAttrName);
    });
  }
};

} // namespace
} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardToCollectives.cpp - Reshards become collectives of sdy ------===//
// Input:   %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]>                 // %0 is sharded [{"x"}, {}]
// Output:  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]>
// Leaves alone reshards between meshes, those that make values unreduced, and those that ReshardSteps.h knows no way for.
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/reshard/ReshardSteps.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_RESHARDTOCOLLECTIVESPASS
#include "passes/sharding/Passes.h.inc"

namespace {

sdy::TensorShardingAttr closedSharding(const DimAxes &dims, Attribute meshOrRef, sdy::MeshAttr mesh) {
  TensorSharding sharding;
  for (const Axes &axes : dims)
    sharding.dims.push_back({axes, true, 0});
  return toAttr(sharding, meshOrRef, mesh);
}

sdy::ListOfAxisRefListsAttr listOf(const DimAxes &dims, sdy::MeshAttr mesh) {
  auto lists = llvm::map_to_vector(dims, [&](const Axes &axes) {
    return sdy::AxisRefListAttr::get(mesh.getContext(), toAttr(axes, mesh));
  });
  return sdy::ListOfAxisRefListsAttr::get(mesh.getContext(), lists);
}

void convert(sdy::ReshardOp op, bool keepRedundant) {
  sdy::TensorShardingAttr after = op.getSharding(), before = shardingInRegion(op.getInput());
  sdy::MeshAttr mesh = after.getMesh(op);
  auto isPendingBefore = [&](sdy::AxisRefAttr axis) { return before && llvm::is_contained(before.getUnreducedAxes(), axis); };
  if (!mesh || mesh.isMaximal() || !llvm::all_of(after.getUnreducedAxes(), isPendingBefore))
    return;
  DimAxes from(after.getRank()), to;
  for (sdy::DimensionShardingAttr dim : after.getDimShardings())
    to.push_back(fromAttr(dim.getAxes(), mesh));
  if (before) {
    bool split = llvm::any_of(before.getDimShardings(), [](auto dim) { return !dim.getAxes().empty(); });
    bool pending = !before.getUnreducedAxes().empty();
    if (before.getRank() != after.getRank() || ((split || pending) && before.getMesh(op) != mesh))
      return;
    for (auto [dim, axes] : llvm::zip_equal(before.getDimShardings(), from))
      axes = fromAttr(dim.getAxes(), mesh);
  }
  auto steps = stepsBetween(from, to);
  if (!steps) {
    op.emitRemark("stays: no sequence of collectives is known");
    return;
  }
  // `summed` are the axes that are summed here; the others stay pending.
  SmallVector<sdy::AxisRefAttr> summed;
  for (sdy::AxisRefAttr axis : before ? before.getUnreducedAxes() : ArrayRef<sdy::AxisRefAttr>())
    if (!llvm::is_contained(after.getUnreducedAxes(), axis))
      summed.push_back(axis);
  bool isPending = !summed.empty();
  auto outSharding = [&](const DimAxes &dims) {
    sdy::TensorShardingAttr closed = closedSharding(dims, after.getMeshOrRef(), mesh);
    return sdy::TensorShardingAttr::get(op.getContext(), closed.getMeshOrRef(), closed.getDimShardings(), ArrayRef<sdy::AxisRefAttr>(),
                                        after.getUnreducedAxes(), after.getUnreducedAxes().empty() ? sdy::ReductionOp::Sum : before.getReductionOp());
  };
  if (keepRedundant && steps->empty() && !isPending)
    return;
  OpBuilder builder(op);
  Value value = op.getInput();
  if (isPending)
    value = sdy::AllReduceOp::create(builder, op.getLoc(), value.getType(), value,
                                     sdy::AxisRefListAttr::get(op.getContext(), summed), before.getReductionOp(), outSharding(from));
  for (const ReshardStep &step : *steps) {
    sdy::TensorShardingAttr out = outSharding(step.result);
    Location loc = op.getLoc();
    switch (step.kind) {
    case ReshardStep::Kind::Slice:
      value = sdy::AllSliceOp::create(builder, loc, value.getType(), value, listOf(step.axes, mesh), out);
      break;
    case ReshardStep::Kind::Gather:
      value = sdy::AllGatherOp::create(builder, loc, value.getType(), value, listOf(step.axes, mesh), out);
      break;
    case ReshardStep::Kind::Permute:
      value = sdy::CollectivePermuteOp::create(builder, loc, value.getType(), value, out);
      break;
    case ReshardStep::Kind::Exchange: {
      auto move = sdy::AllToAllParamAttr::get(op.getContext(), toAttr(step.moved, mesh), step.from, step.to);
      value = sdy::AllToAllOp::create(builder, loc, value.getType(), value,
                                      sdy::AllToAllParamListAttr::get(op.getContext(), {move}), out);
      break;
    }
    }
  }
  op.replaceAllUsesWith(value);
  op.erase();
}

struct ReshardToCollectives : impl::ReshardToCollectivesPassBase<ReshardToCollectives> {
  using ReshardToCollectivesPassBase::ReshardToCollectivesPassBase;
  void runOnOperation() override {
    getOperation().walk([&](sdy::ReshardOp op) { convert(op, keepRedundant); });
  }
};

} // namespace
} // namespace millrace::sharding

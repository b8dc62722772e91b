// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardToCollectives.cpp - Reshards become collectives of sdy ------===//
// Input:   %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]>                 // %0 is sharded [{"x"}, {}]
// Output:  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]>
// Leaves alone reshards between meshes, to unreduced values, of pending maxima, and those that ReshardSteps.h knows no way for.
#include "passes/sharding/ModuleGraph.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ReshardSteps.h"
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
  sdy::TensorShardingAttr after = op.getSharding(), before = sdy::getSharding(op.getInput());
  sdy::MeshAttr mesh = after.getMesh(op);
  if (!mesh || mesh.isMaximal() || !after.getUnreducedAxes().empty())
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
  bool isPending = before && !before.getUnreducedAxes().empty();
  if (keepRedundant && steps->empty() && !isPending)
    return;
  OpBuilder builder(op);
  Value value = op.getInput();
  if (!before && !steps->empty()) {
    // The collectives verify where they start from.
    if (auto result = dyn_cast<OpResult>(value); !result && !isa<func::FuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp()))
      return;
    setSharding(value, closedSharding(from, after.getMeshOrRef(), mesh));
  }
  if (isPending)
    value = sdy::AllReduceOp::create(builder, op.getLoc(), value.getType(), value,
                                     sdy::AxisRefListAttr::get(op.getContext(), before.getUnreducedAxes()), before.getReductionOp(),
                                     closedSharding(from, after.getMeshOrRef(), mesh));
  for (const ReshardStep &step : *steps) {
    sdy::TensorShardingAttr out = closedSharding(step.result, after.getMeshOrRef(), mesh);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitReshardingDimensions.cpp - Axes that part go from dimensions of their own -===//
// Input:   %1 = sdy.reshard %0 <@mesh, [{}, {"x"}, {"y"}]>          // %0: tensor<16x8x8xf32>, sharded [{"x", "y"}, {}, {}]
// Output:  %1 = stablehlo.reshape %0 {[{"x"}, {"y"}, {}, {}]} : (tensor<16x8x8xf32>) -> tensor<2x8x8x8xf32>
//          %2 = sdy.reshard %1 <@mesh, [{}, {}, {"x"}, {"y"}]>
//          %3 = stablehlo.reshape %2 {[{}, {"x"}, {"y"}]} : (tensor<2x8x8x8xf32>) -> tensor<16x8x8xf32>
// Leaves alone reshards between meshes, dimensions that the axes do not divide, and what DimensionSplits.h does.
#include "passes/sharding/reshard/DimensionSplits.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/ProgramPasses.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_SPLITRESHARDINGDIMENSIONSPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

DimAxes axesOf(sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  DimAxes dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(fromAttr(dim.getAxes(), mesh));
  return dims;
}

/// `sharding` with its dimensions split, and the axes of all others as they are in `aligned`.
sdy::TensorShardingAttr split(sdy::TensorShardingAttr sharding, const DimAxes &aligned, ArrayRef<DimensionSplit> splits,
                              DimAxes DimensionSplit::*side, sdy::MeshAttr mesh) {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (auto [i, old] : llvm::enumerate(sharding.getDimShardings())) {
    auto *found = llvm::find_if(splits, [&](const DimensionSplit &each) { return each.dim == int64_t(i); });
    for (const Axes &axes : found == splits.end() ? ArrayRef<Axes>(aligned[i]) : ArrayRef<Axes>((*found).*side))
      dims.push_back(sdy::DimensionShardingAttr::get(old.getContext(), toAttr(axes, mesh), old.getIsClosed(), old.getPriority()));
  }
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims, sharding.getReplicatedAxes(),
                                      sharding.getUnreducedAxes(), sharding.getReductionOp());
}

void convert(sdy::ReshardOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  sdy::TensorShardingAttr after = op.getSharding(), before = sdy::getSharding(op.getInput());
  sdy::MeshAttr mesh = after.getMesh(op);
  if (!type || !type.hasStaticShape() || !before || !mesh || mesh.isMaximal() || before.getMeshOrRef() != after.getMeshOrRef() ||
      before.getRank() != after.getRank())
    return;
  DimAxes from = axesOf(before, mesh), to = axesOf(after, mesh);
  align(from, to);
  std::vector<DimensionSplit> splits = splitsBetween(from, to);
  // Else the parts of the new dimensions would not be where those of the old one are.
  llvm::erase_if(splits, [&](const DimensionSplit &each) {
    int64_t size = type.getDimSize(each.dim);
    return size % productOf(from[each.dim]) != 0 || size % productOf(to[each.dim]) != 0;
  });
  if (splits.empty())
    return;
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    int64_t left = size;
    for (const DimensionSplit &each : splits)
      if (each.dim == int64_t(i))
        for (int64_t length : each.lengths) {
          shape.push_back(length);
          left /= length;
        }
    shape.push_back(left);
  }
  OpBuilder builder(op);
  auto larger = RankedTensorType::get(shape, type.getElementType());
  auto reshape = [&](Value value, RankedTensorType to, sdy::TensorShardingAttr sharding) -> Value {
    auto made = stablehlo::ReshapeOp::create(builder, op.getLoc(), to, value);
    setSharding(made, sharding);
    return made;
  };
  Value apart = reshape(op.getInput(), larger, split(before, from, splits, &DimensionSplit::from, mesh));
  auto moved = sdy::ReshardOp::create(builder, op.getLoc(), larger, apart, split(after, to, splits, &DimensionSplit::to, mesh));
  op.replaceAllUsesWith(reshape(moved, type, after));
  op.erase();
}

struct SplitReshardingDimensions : impl::SplitReshardingDimensionsPassBase<SplitReshardingDimensions> {
  void runOnOperation() override {
    getOperation().walk([](sdy::ReshardOp op) { convert(op); });
  }
};

} // namespace
} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionManual.cpp - Into manual computations and out of them -----===//
// Inside, a value is what the devices of a group hold that agree along the manual axes. Entering moves the manual axes from
// the placement to the scope, leaving moves them back; neither is an operation.
#include "passes/spmd/Partitioner.h"

#include "passes/sharding/exchange/RoundTrip.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

/// Returns the axes that are not manual. Along manual axes, each device's value within the computation is its summand.
static SmallVector<sdy::AxisRefAttr> freeAxes(ArrayRef<sdy::AxisRefAttr> all, ArrayRef<StringAttr> manual) {
  SmallVector<sdy::AxisRefAttr> free;
  for (sdy::AxisRefAttr axis : all)
    if (!llvm::any_of(manual, [&](StringAttr name) { return name.getValue() == axis.getName(); }))
      free.push_back(axis);
  return free;
}

/// Returns the leading axes of a dimension that are manual.
static ArrayRef<sdy::AxisRefAttr> manualPart(sdy::DimensionShardingAttr dim, ArrayRef<StringAttr> manual) {
  return dim.getAxes().take_while([&](sdy::AxisRefAttr axis) {
    return llvm::any_of(manual, [&](StringAttr name) { return name.getValue() == axis.getName(); });
  });
}

Scope Partitioner::scopeOfAxes(const Scope &outer, ArrayRef<StringAttr> axes, sdy::MeshAttr mesh) {
  SmallVector<sdy::AxisRefAttr> references;
  for (StringAttr axis : axes)
    references.push_back(sdy::AxisRefAttr::get(module.getContext(), axis.getValue(), sdy::SubAxisInfoAttr()));
  Tiles tiles = tilesOfAxes(references, mesh);
  return tiles.isWhole() ? outer : outer.splitBy(tiles.of);
}

FailureOr<Shard> Partitioner::enter(const Shard &outside, sdy::TensorShardingAttr sharding, ArrayRef<StringAttr> axes,
                                    Type global, Operation *op) {
  auto target = targetOf(sharding, global, op, outside.scope);
  if (failed(target))
    return failure();
  sdy::MeshAttr mesh = sharding.getMesh(op);
  Shard shard = mergeSum(outside, *target, op->getLoc());
  Scope inner = scopeOfAxes(shard.pending ? shard.pending->whole : shard.scope, axes, mesh);
  if (!isa<RankedTensorType>(global) || sharding.getRank() != int64_t(target->placement.size()))
    return shardOf(global, shard.value, shard.placement, inner);
  SmallVector<Tiles> manual;
  for (auto [dim, attr] : llvm::enumerate(sharding.getDimShardings())) {
    manual.push_back(tilesOfAxes(manualPart(attr, axes), mesh));
    // Free axes may not subdivide the tiles of the manual axes.
    if (!subdivides(target->placement[dim], manual.back(), shard.shape[dim]))
      target->placement[dim] = manual.back();
  }
  Placement chosen = choose(shard, *target, op);
  for (auto [tiles, outer, size] : llvm::zip_equal(chosen, manual, shard.shape))
    if (refines(tiles, outer) && !subdivides(tiles, outer, size))
      tiles = outer;
  shard.value = resharder.reshard(builder, op->getLoc(), shard, chosen);
  shard.value = splitSum(shard, *target, op->getLoc()).value;
  SmallVector<int64_t, 4> shape;
  for (auto [tiles, outer, size] : llvm::zip_equal(chosen, manual, shard.shape)) {
    shape.push_back(tileSize(size, outer));
    if (!divides(outer, size)) {
      op->emitError("expects manual axes to divide their dimensions, but a dimension of ")
          << size << " is to be split into " << outer.count << ": " << sharding;
      return failure();
    }
    if (!refines(tiles, outer)) {
      op->emitError("UNIMPLEMENTED: a manual computation whose operand cannot be split along its manual axes: ")
          << sharding;
      return failure();
    }
    tiles = within(tiles, outer);
  }
  return apart({shard.value, chosen, inner, shape}, pendingOf(sharding, freeAxes(sharding.getUnreducedAxes(), axes), mesh));
}

FailureOr<Shard> Partitioner::leave(Shard shard, sdy::TensorShardingAttr sharding, ArrayRef<StringAttr> axes,
                                    Type global, const Scope &scope, Operation *op) {
  sdy::MeshAttr mesh = sharding.getMesh(op);
  if (!mesh) {
    op->emitError("unknown mesh: ") << sharding.getMeshOrRef();
    return failure();
  }
  Target inside;
  inside.pending = pendingOf(sharding, freeAxes(sharding.getUnreducedAxes(), axes), mesh);
  shard = mergeSum(shard, inside, op->getLoc());
  if (sharding.getRank() == int64_t(shard.placement.size())) {
    // If tiles do not divide a manual shard, the tiles of all shards do not tile the whole value.
    Placement even = shard.placement;
    for (auto [tiles, size, dim] : llvm::zip_equal(even, shard.shape, sharding.getDimShardings()))
      if (!divides(tiles, size) && !tilesOfAxes(manualPart(dim, axes), mesh).isWhole())
        tiles = Tiles();
    shard.value = resharder.reshard(builder, op->getLoc(), shard, even);
    shard.placement = even;
    shard = splitSum(shard, inside, op->getLoc());
    for (auto [tiles, dim] : llvm::zip_equal(shard.placement, sharding.getDimShardings()))
      tiles = compose(tilesOfAxes(manualPart(dim, axes), mesh), tiles);
  }
  return apart(shardOf(global, shard.value, shard.placement, scope), pendingOf(sharding, sharding.getUnreducedAxes(), mesh));
}

LogicalResult Partitioner::emitManual(sdy::ManualComputationOp op) {
  Scope outer = currentScope, saved = currentScope;
  for (Value operand : op->getOperands()) {
    const Scope &scope = shards[operand].pending ? shards[operand].pending->whole : shards[operand].scope;
    if (scope.count > outer.count)
      outer = scope;
  }
  ArrayRef<StringAttr> axes = op.getManualAxes();
  sdy::TensorShardingAttr any;
  for (auto list : {op.getInShardings(), op.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : list.getShardings())
      any = any ? any : sharding;
  if (any) {
    sdy::MeshAttr mesh = any.getMesh(op);
    if (mesh.getTotalSize() != numDevices && !axes.empty())
      return op->emitError("expects a mesh of the program's ")
             << numDevices << " devices (mhlo.num_partitions), but got one of " << mesh.getTotalSize();
    currentScope = scopeOfAxes(outer, axes, mesh);
  }
  for (auto [operand, argument, sharding] :
       llvm::zip_equal(op->getOperands(), op.getBody().getArguments(), op.getInShardings().getShardings())) {
    Shard shard = shards[operand];
    if (!shard.pending)
      shard.scope = outer;
    auto inside = enter(shard, sharding, axes, operand.getType(), op);
    if (failed(inside))
      return failure();
    shards[argument] = *inside;
  }
  SmallVector<Shard> returned;
  if (failed(emitBlock(op.getBody().front(), returned)))
    return failure();
  currentScope = saved;
  for (auto [result, shard, sharding] :
       llvm::zip_equal(op->getResults(), returned, op.getOutShardings().getShardings())) {
    auto outside = leave(shard, sharding, axes, result.getType(), outer, op);
    if (failed(outside))
      return failure();
    shards[result] = *outside;
  }
  return success();
}

//===-- Custom calls ------------------------------------------------------===//

bool Partitioner::emitShardingCall(CustomCallOp op, LogicalResult &result) {
  StringRef name = op.getCallTargetName();
  if (name == "Sharding")
    result = emitSharding(op);
  else if (name == "SPMDFullToShardShape")
    result = emitFullToShard(op);
  else if (name == "SPMDShardToFullShape")
    result = emitShardToFull(op);
  else if (name == "annotate_device_placement" || name == "MoveToHost" || name == "MoveToDevice")
    // There is one memory space, so an annotation of memory does not change the sharding.
    for (auto [operand, value] : llvm::zip(op->getOperands(), op->getResults())) {
      Shard shard = shards[operand];
      shards[value] = shard;
    }
  else
    return false;
  return true;
}

LogicalResult Partitioner::emitSharding(CustomCallOp op) {
  Shard shard = shards[op->getOperand(0)];
  Type type = op->getOperand(0).getType();
  FailureOr<Target> target = Target{wholeOf(type), SmallVector<bool>(wholeOf(type).size(), true), {}};
  if (auto text = op->getAttrOfType<StringAttr>("mhlo.sharding"))
    target = targetOf(text.getValue(), type, op);
  if (failed(target))
    return failure();
  for (int64_t dim : sharding::unspecifiedDims(op))
    if (dim >= 0 && dim < int64_t(target->open.size()))
      target->open[dim] = true;
  Placement chosen = choose(shard, *target, op);
  Value value = resharder.reshard(builder, op.getLoc(), shard, chosen);
  for (Value result : op->getResults())
    bind(result, value, chosen, shard.scope);
  return success();
}

/// Merges `tiles` into `count` tiles, those of a dimension that is `count` times as large outside the manual computation as within it.
static std::optional<Tiles> coarsen(const Tiles &tiles, int64_t count) {
  if (count == 1)
    return Tiles();
  if (tiles.count % count != 0)
    return std::nullopt;
  Tiles result{count, tiles.of};
  for (int32_t &tile : result.of)
    tile /= tiles.count / count;
  return result;
}

/// Returns the quotient of the sizes of dimension `dim`, or 0 if `global` is no multiple.
static int64_t ratio(RankedTensorType global, RankedTensorType local, int64_t dim) {
  if (global.getRank() != local.getRank())
    return 0;
  int64_t outside = global.getDimSize(dim), inside = local.getDimSize(dim);
  return outside == inside ? 1 : inside == 0 || outside % inside ? 0 : outside / inside;
}

LogicalResult Partitioner::emitFullToShard(CustomCallOp op) {
  Shard shard = shards[op->getOperand(0)];
  auto text = op->getAttrOfType<StringAttr>("mhlo.sharding");
  auto target = targetOf(text ? text.getValue() : StringRef("{manual}"), op->getResult(0).getType(), op);
  if (failed(target))
    return failure();
  if (!target->manualKey.empty())
    shard.scope = shard.scope.splitBy(target->manualKey);
  auto global = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto local = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  Placement inner = shard.placement;
  if (global && local) {
    Placement outer = shard.placement;
    for (auto [dim, tiles] : llvm::enumerate(outer)) {
      int64_t count = ratio(global, local, dim);
      auto manual = count ? coarsen(tiles, count) : std::nullopt;
      if (!manual)
        return op->emitError("expects dimension ") << dim << " of " << global << " to be split so that devices hold "
                                                   << local << ", but it is in " << tiles.count << " parts";
      if (!subdivides(tiles, *manual, global.getDimSize(dim)))
        tiles = *manual;
      inner[dim] = within(tiles, *manual);
    }
    Shard here = shards[op->getOperand(0)];
    shard.value = resharder.reshard(builder, op.getLoc(), here, outer);
  }
  bind(op->getResult(0), shard.value, inner, shard.scope);
  return success();
}

LogicalResult Partitioner::emitShardToFull(CustomCallOp op) {
  Shard shard = shards[op->getOperand(0)];
  auto text = op->getAttrOfType<StringAttr>("mhlo.sharding");
  auto target = targetOf(text ? text.getValue() : StringRef("{replicated}"), op->getResult(0).getType(), op);
  if (failed(target))
    return failure();
  auto local = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto global = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (global && local) {
    // If tiles do not divide a manual shard, the tiles of all shards do not tile the whole value.
    Placement even = shard.placement;
    for (auto [tiles, size] : llvm::zip_equal(even, shard.shape))
      if (!divides(tiles, size))
        tiles = Tiles();
    shard.value = resharder.reshard(builder, op.getLoc(), shard, even);
    shard.placement = even;
    for (auto [dim, tiles] : llvm::enumerate(shard.placement)) {
      int64_t count = ratio(global, local, dim);
      auto manual = count ? coarsen(target->placement[dim], count) : std::nullopt;
      if (!manual)
        return op->emitError("expects a sharding that splits dimension ")
               << dim << " of " << global << " into parts of " << local << ", but got " << text;
      tiles = compose(*manual, tiles);
    }
  }
  bind(op->getResult(0), shard.value, shard.placement,
       target->manualKey.empty() ? currentScope : currentScope.splitBy(target->manualKey));
  return success();
}

} // namespace millrace::spmd

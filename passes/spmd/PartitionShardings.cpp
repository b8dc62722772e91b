// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionShardings.cpp - Read the shardings of annotations ---------===//
#include "passes/spmd/Partitioner.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::spmd {

FailureOr<Target> Partitioner::targetOf(sdy::TensorShardingAttr sharding, Type type, Operation *op, const Scope &scope,
                                        EmitError emitError) {
  auto report = [&] { return emitError ? emitError() : op->emitOpError(); };
  Target target{wholeOf(type), {}, {}};
  target.open.resize(target.placement.size());
  sdy::MeshAttr mesh = sharding.getMesh(op);
  if (!mesh) {
    report() << "unknown mesh: " << sharding.getMeshOrRef();
    return failure();
  }
  if (mesh.isMaximal() && mesh.getDeviceIds()[0] >= numDevices) {
    report() << "expects one of the program's " << numDevices << " devices (mhlo.num_partitions), but got device "
             << mesh.getDeviceIds()[0] << ": " << sharding;
    return failure();
  }
  if (sharding.getRank() != int64_t(target.placement.size()))
    return target; // a maximal mesh: the value is replicated
  bool used = false;
  sharding.walkAxes([&](sdy::AxisRefAttr) { used = true; });
  if (used && mesh.getTotalSize() != numDevices) {
    report() << "expects a mesh of the program's " << numDevices << " devices (mhlo.num_partitions), but got one of "
             << mesh.getTotalSize() << ": " << sharding;
    return failure();
  }
  for (auto [dim, attr] : llvm::enumerate(sharding.getDimShardings())) {
    target.placement[dim] = tilesOfAxes(attr.getAxes(), mesh);
    target.open[dim] = !attr.getIsClosed();
  }
  target.pending = pendingOf(sharding, sharding.getUnreducedAxes(), mesh);
  return target;
}

FailureOr<Target> Partitioner::targetOf(StringRef text, Type type, Operation *op, EmitError emitError) {
  Target target{wholeOf(type), {}, {}};
  std::string error;
  auto sharding = sdy::parseHloSharding(text, error);
  if (sharding && sharding->kind == sdy::HloSharding::Kind::Tuple && sharding->elements.size() == 1)
    sharding = sharding->elements[0];
  if (sharding && sharding->kind == sdy::HloSharding::Kind::Named) {
    // The same placement in axes; manual axes become a subgroup.
    SmallVector<sdy::AxisRefAttr> manual;
    auto attr = sdy::toSdy(*sharding, target.placement.size(), module.getContext(), manual, error);
    if (attr) {
      auto result = targetOf(attr, type, op, currentScope, emitError);
      if (succeeded(result) && !manual.empty())
        result->manualKey = tilesOfAxes(manual, cast<sdy::MeshAttr>(attr.getMeshOrRef())).of;
      return result;
    }
    sharding.reset();
  }
  if (!sharding || !fromHloSharding(*sharding, target.placement.size(), numDevices, target.placement, target.manualKey,
                                    error)) {
    (emitError ? emitError() : op->emitOpError()) << "mhlo.sharding: " << error;
    return failure();
  }
  target.open.resize(target.placement.size());
  return target;
}

/// Drops tiles of dimensions with at most one element.
void Partitioner::dropPointless(Target &target, Type type) {
  for (auto [tiles, size] : llvm::zip_equal(target.placement, cast<RankedTensorType>(type).getShape()))
    if (size <= 1)
      tiles = Tiles();
}

Placement Partitioner::choose(const Shard &shard, Target target, Operation *op) {
  if (target.placement.empty())
    return {};
  dropPointless(target, cast<RankedTensorType>(shard.value.getType()).clone(shard.shape));
  Placement finer = target.placement;
  for (auto [dim, tiles] : llvm::enumerate(finer))
    if (target.open[dim] && subdivides(shard.placement[dim], tiles, shard.shape[dim]))
      tiles = shard.placement[dim];
  if (isUniform(finer, shard.scope))
    return finer;
  for (Tiles &tiles : llvm::reverse(target.placement)) {
    if (isUniform(target.placement, shard.scope))
      break;
    op->emitRemark("a dimension stays whole: its devices are not independent of those of another dimension");
    tiles = Tiles();
  }
  return target.placement;
}

/// Returns the placement that propagation chose for the result of an operation; nothing if there is none, or one that is not supported.
std::optional<Placement> Partitioner::wantedPlacement(OpResult result, const Scope &scope) {
  auto all = result.getOwner()->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
  auto tensor = dyn_cast<RankedTensorType>(result.getType());
  if (!all || !tensor || all.getShardings().size() != result.getOwner()->getNumResults())
    return std::nullopt;
  sdy::TensorShardingAttr sharding = all.getShardings()[result.getResultNumber()];
  sdy::MeshAttr mesh = sharding.getMesh(result.getOwner());
  if (!mesh || mesh.isMaximal() || sharding.getRank() != tensor.getRank() || mesh.getTotalSize() != numDevices)
    return std::nullopt;
  Placement placement;
  for (auto [dim, size] : llvm::zip_equal(sharding.getDimShardings(), tensor.getShape())) {
    Tiles tiles = tilesOfAxes(dim.getAxes(), mesh);
    placement.push_back(size > 1 ? tiles : Tiles());
  }
  return isWhole(placement) || !isUniform(placement, scope) ? std::nullopt : std::optional(placement);
}

} // namespace millrace::spmd

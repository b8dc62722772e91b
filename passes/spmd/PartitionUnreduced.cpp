// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionUnreduced.cpp - Values whose summands are still apart ------===//
// Input:   %0 = dot_general %a, %b {unreduced = {"y"}} ; %1 = transpose %0 {unreduced = {"y"}} ; %2 = reshard %1 {}
// Output:  the product and the transpose of each device, then one all_reduce (or reduce_scatter, where %2 is in parts)
// Only annotations leave a value unreduced. Operations that map sums to sums pass it on if they are annotated alike; all others
// get the combined value.
#include "passes/spmd/Combiners.h"
#include "passes/spmd/Partitioner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

Shard Partitioner::combined(const Shard &shard, Location loc) {
  if (!shard.pending)
    return shard;
  SmallVector<const Tiles *> same;
  for (const Tiles &tiles : shard.placement)
    same.push_back(&tiles);
  Shard result = shard;
  if (!shard.pending->isEqual) {
    ReplicaGroups groups = groupsFor(same, {&shard.pending->parts}, shard.pending->whole);
    result.value = resharder.allReduce(builder, loc, shard.value, groups, shard.pending->kind);
  }
  result.scope = shard.pending->whole;
  result.pending.reset();
  return result;
}

Shard Partitioner::apart(Shard shard, std::optional<Pending> pending) {
  if (pending) {
    pending->whole = shard.scope;
    shard.scope = shard.scope.splitBy(pending->parts.of);
  }
  shard.pending = std::move(pending);
  return shard;
}

/// Converts tiles to summands, each the tile between zeros, if the placement of the tiles is that of the target's summands, so that no communication
/// is needed. Returns false otherwise; tiles are then gathered first.
static bool spreadTiles(OpBuilder &builder, Resharder &resharder, Shard &shard, const Target &target, Location loc) {
  auto type = dyn_cast<RankedTensorType>(shard.value.getType());
  if (!type || type.getNumElements() == 0 || shard.pending || !target.pending || target.pending->kind != sdy::ReductionOp::Sum)
    return false;
  std::optional<size_t> along;
  for (size_t dim = 0; dim < shard.placement.size(); ++dim)
    if (shard.placement[dim] != target.placement[dim]) {
      if (along)
        return false;
      along = dim;
    }
  if (!along)
    return false;
  const Tiles &now = shard.placement[*along], &then = target.placement[*along];
  if (!subdivides(now, then, shard.shape[*along]) || !divides(now, shard.shape[*along]) || within(now, then) != target.pending->parts)
    return false;
  SmallVector<int64_t> starts, shape(type.getShape());
  for (int32_t part : target.pending->parts.of)
    starts.push_back(part * shape[*along]);
  Value zero = resharder.own(builder, loc, SmallVector<int64_t>(starts.size(), 0));
  SmallVector<Value> at(shape.size(), zero);
  at[*along] = resharder.own(builder, loc, starts);
  shape[*along] *= target.pending->parts.count;
  Value nothing = stablehlo::ConstantOp::create(builder, loc, nothingOf(type.clone(shape)));
  shard.value = DynamicUpdateSliceOp::create(builder, loc, nothing.getType(), nothing, shard.value, at);
  shard.placement = target.placement;
  return true;
}

Shard Partitioner::mergeSum(const Shard &shard, const Target &target, Location loc) {
  if (shard.pending)
    return target.pending && target.pending->isLike(*shard.pending) ? shard : combined(shard, loc);
  Shard spread = shard;
  return spreadTiles(builder, resharder, spread, target, loc) ? apart(spread, target.pending) : shard;
}

/// Converts a value to summands: of a sum, the first devices keep the value, and the others get zero. The maximum or minimum of equal values is the
/// value.
Shard Partitioner::splitSum(const Shard &shard, const Target &target, Location loc) {
  auto type = dyn_cast<RankedTensorType>(shard.value.getType());
  if (!target.pending || shard.pending || !type)
    return shard;
  Shard result = apart(shard, target.pending);
  result.pending->isEqual = target.pending->kind != sdy::ReductionOp::Sum;
  if (target.pending->kind == sdy::ReductionOp::Sum) {
    Value first = CompareOp::create(builder, loc, resharder.own(builder, loc, perDevice(target.pending->parts, [](int64_t part) { return part; })),
                                    resharder.own(builder, loc, SmallVector<int64_t>(numDevices, 0)), ComparisonDirection::EQ);
    Value nothing = stablehlo::ConstantOp::create(builder, loc, nothingOf(type));
    result.value = SelectOp::create(builder, loc, type, first, shard.value, nothing);
  }
  return result;
}

std::optional<Pending> Partitioner::pendingOf(sdy::TensorShardingAttr sharding, ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh) {
  Tiles parts = tilesOfAxes(axes, mesh);
  return parts.isWhole() ? std::nullopt : std::optional(Pending{parts, sharding.getReductionOp(), {}});
}

/// Returns the pending sum that the annotation of a result keeps.
std::optional<Pending> Partitioner::wantedPending(Operation &op) {
  auto all = op.getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
  if (!all || op.getNumResults() != 1 || all.getShardings().size() != 1)
    return std::nullopt;
  sdy::TensorShardingAttr sharding = all.getShardings()[0];
  sdy::MeshAttr mesh = sharding.getMesh(&op);
  if (!mesh || mesh.getTotalSize() != numDevices)
    return std::nullopt;
  return pendingOf(sharding, sharding.getUnreducedAxes(), mesh);
}

/// Returns true if the devices' sums over `groups` are exactly the summands that the annotation leaves pending.
bool Partitioner::staysApart(const Pending &wanted, Operation *combiner, const ReplicaGroups &groups, ArrayRef<const Tiles *> kept,
                             const Scope &scope) {
  // Contractions and gathers, which have no combiner, leave sums.
  bool fits = (wanted.kind == sdy::ReductionOp::Sum && (!combiner || isa<AddOp>(combiner))) ||
              (wanted.kind == sdy::ReductionOp::Max && isa_and_nonnull<MaxOp>(combiner)) ||
              (wanted.kind == sdy::ReductionOp::Min && isa_and_nonnull<MinOp>(combiner));
  SmallVector<const Tiles *> all(kept);
  all.push_back(&wanted.parts);
  if (!fits || !isUniform(all, scope))
    return false;
  auto asSets = [](ReplicaGroups list) {
    for (auto &group : list)
      llvm::sort(group);
    llvm::sort(list);
    return list;
  };
  return asSets(groups) == asSets(groupsFor(kept, {&wanted.parts}, scope));
}

/// Returns the pending sum of the result if the operation applies to each summand of its operands.
std::optional<Pending> Partitioner::passedOn(Operation &op) {
  auto wanted = wantedPending(op);
  std::optional<Pending> found;
  SmallVector<bool> apart;
  for (Value operand : op.getOperands()) {
    const Shard &shard = shards[operand];
    apart.push_back(shard.pending.has_value());
    if (!shard.pending)
      continue;
    if (!wanted || !shard.pending->isLike(*wanted) || (found && !(found->whole == shard.pending->whole)))
      return std::nullopt;
    bool isEqual = shard.pending->isEqual && (!found || found->isEqual);
    found = shard.pending;
    found->isEqual = isEqual;
  }
  if (!found)
    return std::nullopt;
  // Devices with the same summand work among themselves: together they hold all tiles of the other operands.
  Scope inner = found->whole.splitBy(found->parts.of);
  for (Value operand : op.getOperands())
    if (const Shard &shard = shards[operand]; !shard.pending && !isUniform(shard.placement, inner))
      return std::nullopt;
  auto isFloat = [](Value value) { return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); };
  bool moves = isa<TransposeOp, ReshapeOp, BroadcastInDimOp, SliceOp, ReverseOp>(op);
  bool isLinear = llvm::TypeSwitch<Operation *, bool>(&op)
                      .Case<AddOp, SubtractOp, ConcatenateOp, ComplexOp>([&](auto) { return llvm::all_of(apart, [](bool each) { return each; }); })
                      .Case<NegOp, RealOp, ImagOp>([](auto) { return true; })
                      .Case([&](ConvertOp each) { return isFloat(each.getOperand()) && isFloat(each.getResult()); })
                      .Case<MulOp, DotGeneralOp>([&](auto) { return llvm::count(apart, true) == 1; })
                      .Case([&](DivOp each) { return apart[0] && !apart[1] && isFloat(each.getResult()); })
                      .Case([&](SelectOp) { return !apart[0] && apart[1] && apart[2]; })
                      .Case([&](ReduceOp each) {
                        Operation *combiner = combinerOf(each);
                        return combiner && isa<AddOp>(combiner) && apart[0] && !apart[1] && isNeutral(each.getInitValues()[0], combiner);
                      })
                      .Default([](Operation *) { return false; });
  return moves || (isLinear && found->kind == sdy::ReductionOp::Sum) ? found : std::nullopt;
}

} // namespace millrace::spmd

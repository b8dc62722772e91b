// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshard.cpp - Slices, all-gathers and all-reduces ------------------===//
#include "passes/spmd/Reshard.h"

#include "passes/spmd/ReshardPlan.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

Type localType(Type global, const Placement &placement) {
  auto tensor = dyn_cast<RankedTensorType>(global);
  if (!tensor)
    return global;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [size, tiles] : llvm::zip_equal(shape, placement))
    size = tileSize(size, tiles);
  return tensor.clone(shape);
}

Shard shardOf(Type global, Value local, Placement placement, Scope scope) {
  auto tensor = dyn_cast<RankedTensorType>(global);
  return {local, std::move(placement), std::move(scope), SmallVector<int64_t, 4>(tensor ? tensor.getShape() : ArrayRef<int64_t>())};
}

/// Returns a zero constant of `type`, quantized or not.
static Value zeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(type.getElementType()))
    return ConstantOp::create(builder, loc, type, zerosOf(type.clone(quantized.getStorageType())));
  return ConstantOp::create(builder, loc, zerosOf(type));
}

Value zeroOf(OpBuilder &builder, Location loc, Value like) {
  return zeros(builder, loc, RankedTensorType::get({}, cast<RankedTensorType>(like.getType()).getElementType()));
}

Value cutOut(OpBuilder &builder, Location loc, Value value, size_t dim, int64_t begin, int64_t end) {
  return boxOf(builder, loc, value, Box::along(cast<RankedTensorType>(value.getType()).getShape(), dim, begin, end));
}

/// Returns zeros; for floats, with the given sign.
static ElementsAttr signedZeros(RankedTensorType type, bool isNegative) {
  auto zero = [&](Type element) { return APFloat::getZero(cast<FloatType>(element).getFloatSemantics(), isNegative); };
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element)) {
    APFloat part = zero(complex.getElementType());
    return DenseElementsAttr::get(type, std::complex<APFloat>(part, part));
  }
  if (auto integer = dyn_cast<IntegerType>(element))
    return DenseElementsAttr::get(type, APInt::getZero(integer.getWidth()));
  return DenseElementsAttr::get(type, zero(element));
}

ElementsAttr zerosOf(RankedTensorType type) { return signedZeros(type, /*isNegative=*/false); }

ElementsAttr nothingOf(RankedTensorType type) { return signedZeros(type, /*isNegative=*/true); }

Resharder::Resharder(ModuleOp module, int64_t devices, Filling filling) : numDevices(devices), filling(std::move(filling)) {
  module.walk([&](Operation *op) {
    if (auto used = op->getAttrOfType<ChannelHandleAttr>("channel_handle"))
      channel = std::max(channel, used.getHandle());
  });
}

Attribute Resharder::nextChannel(MLIRContext *context) { return ChannelHandleAttr::get(context, ++channel, 1); }

static Attribute groupsAttr(OpBuilder &builder, const ReplicaGroups &groups) {
  SmallVector<int64_t> flat;
  for (const auto &group : groups)
    llvm::append_range(flat, group);
  int64_t rows = groups.size(), columns = groups.empty() ? 0 : groups[0].size();
  return DenseIntElementsAttr::get(RankedTensorType::get({rows, columns}, builder.getI64Type()), flat);
}

/// Pads the value at the end of every dimension, up to `shape`.
Value Resharder::fillUp(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  SmallVector<int64_t> none(shape.size(), 0), high;
  for (auto [from, to] : llvm::zip_equal(type.getShape(), shape))
    high.push_back(to - from);
  Value behind = filling ? filling(builder, loc, value) : zeroOf(builder, loc, value);
  return PadOp::create(builder, loc, type.clone(shape), value, behind, builder.getDenseI64ArrayAttr(none),
                       builder.getDenseI64ArrayAttr(high), builder.getDenseI64ArrayAttr(none));
}

void Resharder::gather(OpBuilder &builder, Location loc, Shard &shard, size_t dim, const Tiles &target) {
  SmallVector<const Tiles *> same{&target};
  for (auto [i, tiles] : llvm::enumerate(shard.placement))
    if (i != dim)
      same.push_back(&tiles);
  Tiles collected = within(shard.placement[dim], target);
  ReplicaGroups groups = groupsFor(same, &collected, shard.scope);
  shard.placement[dim] = target;
  Value all = gatherAlong(builder, loc, shard.value, dim, groups);
  shard.value = cutOut(builder, loc, all, dim, 0, tileSize(shard.shape[dim], target));
}

Value Resharder::gatherAlong(OpBuilder &builder, Location loc, Value value, size_t dim, const ReplicaGroups &groups) {
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(from.getShape());
  shape[dim] *= int64_t(groups[0].size());
  auto op = AllGatherOp::create(builder, loc, TypeRange{from.clone(shape)}, ValueRange{value}, uint64_t(dim), groupsAttr(builder, groups),
                                cast<ChannelHandleAttr>(nextChannel(builder.getContext())), /*use_global_device_ids=*/true);
  return op->getResult(0);
}

Value Resharder::permute(OpBuilder &builder, Location loc, const Shard &shard, const Placement &target) {
  return permute(builder, loc, shard.value, permutationTo(shard.placement, target, shard.scope));
}

Value Resharder::permute(OpBuilder &builder, Location loc, Value value, const ReplicaGroups &pairs) {
  return CollectivePermuteOp::create(builder, loc, value.getType(), value,
                                     cast<DenseIntElementsAttr>(groupsAttr(builder, pairs)),
                                     cast<ChannelHandleAttr>(nextChannel(builder.getContext())));
}

/// Shards dimension `to` instead of `from`: each device sends every partner its shard along `to`.
void Resharder::exchange(OpBuilder &builder, Location loc, Shard &shard, size_t from, size_t to, const Placement &target) {
  Tiles moved = within(shard.placement[from], target[from]);
  shard.placement[from] = target[from];
  SmallVector<const Tiles *> same;
  for (const Tiles &tiles : shard.placement)
    same.push_back(&tiles);
  ReplicaGroups groups = groupsFor(same, &moved, shard.scope);
  shard.placement[to] = target[to];
  auto type = cast<RankedTensorType>(shard.value.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t part = tileSize(shard.shape[to], target[to]);
  shape[to] = part * moved.count;
  Value value = fillUp(builder, loc, shard.value, shape);
  shape[from] *= moved.count;
  shape[to] = part;
  auto op = AllToAllOp::create(builder, loc, TypeRange{type.clone(shape)}, ValueRange{value}, uint64_t(to), uint64_t(from),
                               uint64_t(moved.count), groupsAttr(builder, groups),
                               cast<ChannelHandleAttr>(nextChannel(builder.getContext())));
  shard.value = cutOut(builder, loc, op->getResult(0), from, 0, tileSize(shard.shape[from], target[from]));
}

Value Resharder::own(OpBuilder &builder, Location loc, ArrayRef<int64_t> values) {
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  if (llvm::all_equal(values))
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, int32_t(values.front())));
  SmallVector<int32_t> entries(values.begin(), values.end());
  auto type = RankedTensorType::get({numDevices}, builder.getI32Type());
  Value table = ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef(entries)));
  Value id = PartitionIdOp::create(builder, loc, RankedTensorType::get({}, builder.getIntegerType(32, false)));
  Value entry = DynamicSliceOp::create(builder, loc, RankedTensorType::get({1}, builder.getI32Type()), table, ValueRange{id},
                                       builder.getDenseI64ArrayAttr({1}));
  return ReshapeOp::create(builder, loc, scalar, entry);
}

void Resharder::slice(OpBuilder &builder, Location loc, Shard &shard, const Placement &target) {
  auto from = cast<RankedTensorType>(shard.value.getType());
  SmallVector<int64_t> shape, filled;
  SmallVector<Tiles> inner;
  for (auto [dim, tiles] : llvm::enumerate(shard.placement)) {
    inner.push_back(within(target[dim], tiles));
    shape.push_back(tileSize(shard.shape[dim], target[dim]));
    filled.push_back(inner.back().isWhole() ? from.getDimSize(dim) : inner.back().count * shape.back());
  }
  shard.placement = target;
  auto type = from.clone(shape);
  // Elements along the sliced dimensions are equal, so the broadcast creates fewer of them.
  if (auto broadcast = shard.value.getDefiningOp<BroadcastInDimOp>()) {
    auto operand = cast<RankedTensorType>(broadcast.getOperand().getType());
    bool equal = true;
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      equal &= inner[dim].isWhole() || operand.getDimSize(i) == 1;
    if (equal) {
      shard.value =
          BroadcastInDimOp::create(builder, loc, type, broadcast.getOperand(), broadcast.getBroadcastDimensionsAttr());
      return;
    }
  }
  Value value = fillUp(builder, loc, shard.value, filled);
  // The start of a device's slice is read from a table by the device's number.
  SmallVector<Value> starts;
  for (auto [dim, tiles] : llvm::enumerate(inner)) {
    SmallVector<int64_t> offsets;
    for (int64_t device = 0; device < numDevices; ++device)
      offsets.push_back(tiles.at(device) * shape[dim]);
    starts.push_back(own(builder, loc, offsets));
  }
  shard.value = DynamicSliceOp::create(builder, loc, type, value, starts, builder.getDenseI64ArrayAttr(shape));
}

/// Changes the tiles of a dimension: each device receives the elements that it needs from the devices that hold them.
void Resharder::fetch(OpBuilder &builder, Location loc, Shard &shard, size_t dim, const Tiles &target) {
  int64_t width = tileSize(shard.shape[dim], target);
  SmallVector<int64_t> starts;
  for (int64_t device = 0; device < numDevices; ++device)
    starts.push_back(target.at(device) * width);
  shard.value = window(builder, loc, shard, dim, starts, width, filling ? filling(builder, loc, shard.value) : Value());
  shard.placement[dim] = target;
}

/// Returns true if `value` is defined in `block` or in a block around it. Code is emitted in order, so an existing value precedes the end of the
/// block.
static bool isVisible(Value value, Block *block) {
  for (; block; block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr)
    if (value.getParentBlock() == block)
      return true;
  return false;
}

Value Resharder::reshard(OpBuilder &builder, Location loc, const Shard &shard, const Placement &target, bool lastUse) {
  if (shard.placement == target)
    return shard.value;
  for (const Done &before : done.lookup(shard.value))
    if (before.target == target && before.scope == shard.scope && before.shape == shard.shape && isVisible(before.result, builder.getInsertionBlock()))
      return before.result;
  Value result = move(builder, loc, shard, target, lastUse);
  // After its last use a value may be erased, and its address reused.
  if (!lastUse)
    done[shard.value].push_back({target, shard.scope, shard.shape, result});
  return result;
}

/// Replaces the all_reduce that defines the value by a reduce_scatter if each device keeps one slice of a dimension, and every group holds all
/// slices. All groups must sum in the same order, because copies of a slice in two groups would otherwise be rounded differently.
void Resharder::scatterSum(OpBuilder &builder, Shard &shard, const Placement &target) {
  auto sum = shard.value.getDefiningOp<AllReduceOp>();
  if (!sum || !ownSums.contains(sum) || !sum->use_empty() || sum->getBlock() != builder.getInsertionBlock())
    return;
  auto attr = cast<DenseIntElementsAttr>(sum.getReplicaGroups());
  SmallVector<int64_t> ids(attr.getValues<int64_t>());
  size_t size = cast<RankedTensorType>(attr.getType()).getDimSize(1);
  for (auto [dim, tiles] : llvm::enumerate(target)) {
    if (tiles == shard.placement[dim] || !subdivides(tiles, shard.placement[dim], shard.shape[dim]))
      continue;
    Tiles inner = within(tiles, shard.placement[dim]);
    if (size_t(inner.count) != size)
      continue;
    ReplicaGroups groups;
    bool complete = true;
    for (size_t begin = 0; begin < ids.size(); begin += size) {
      std::vector<int64_t> &group = groups.emplace_back(size, -1);
      for (size_t i = 0; i < size; ++i) {
        int64_t device = ids[begin + i], place = inner.at(device);
        complete &= group[place] == -1 && place == inner.at(ids[i]);
        group[place] = device;
      }
    }
    if (!complete)
      continue;
    auto type = cast<RankedTensorType>(shard.value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = tileSize(shard.shape[dim], tiles) * inner.count;
    Value summand = fillUp(builder, sum.getLoc(), sum->getOperand(0), shape);
    shape[dim] /= inner.count;
    auto op = ReduceScatterOp::create(builder, sum.getLoc(), type.clone(shape), summand, uint64_t(dim),
                                      groupsAttr(builder, groups), cast<ChannelHandleAttr>(nextChannel(builder.getContext())),
                                      /*use_global_device_ids=*/true);
    op->getRegion(0).takeBody(sum->getRegion(0));
    ownSums.erase(sum);
    sum.erase();
    shard.placement[dim] = tiles;
    shard.value = op.getResult();
    return;
  }
}

Value Resharder::move(OpBuilder &builder, Location loc, const Shard &from, const Placement &target, bool lastUse) {
  Shard shard = from;
  ArrayRef<int64_t> shape = from.shape;
  // There is nothing to move, and collectives accept no empty tensors.
  auto type = cast<RankedTensorType>(shard.value.getType());
  if (type.getNumElements() == 0)
    return zeros(builder, loc, cast<RankedTensorType>(localType(type.clone(shape), target)));
  // A device that holds one of equal elements holds them all.
  auto wanted = cast<RankedTensorType>(localType(type.clone(shape), target));
  DenseElementsAttr constant;
  if (matchPattern(shard.value, m_Constant(&constant)) && constant.isSplat())
    return ConstantOp::create(builder, loc, wanted, constant.resizeSplat(wanted));
  if (auto broadcast = shard.value.getDefiningOp<BroadcastInDimOp>(); broadcast && broadcast.getBroadcastDimensions().empty())
    return BroadcastInDimOp::create(builder, loc, wanted, broadcast.getOperand(), broadcast.getBroadcastDimensionsAttr());
  for (const auto &[number, next] : llvm::enumerate(planReshard(from.placement, target, shape, from.scope))) {
    switch (next.kind) {
    case Move::Kind::Slice:
      if (lastUse && number == 0)
        scatterSum(builder, shard, next.result);
      if (shard.placement != next.result)
        slice(builder, loc, shard, next.result);
      break;
    case Move::Kind::Permute:
      shard.value = permute(builder, loc, shard, next.result);
      shard.placement = next.result;
      break;
    case Move::Kind::Exchange:
      exchange(builder, loc, shard, next.from, next.to, next.result);
      break;
    case Move::Kind::Gather:
      gather(builder, loc, shard, next.from, next.result[next.from]);
      break;
    case Move::Kind::Fetch:
      fetch(builder, loc, shard, next.from, next.result[next.from]);
      break;
    }
  }
  return shard.value;
}

Value Resharder::allReduce(OpBuilder &builder, Location loc, Value value, const ReplicaGroups &groups, Region &reducer) {
  auto op = AllReduceOp::create(builder, loc, TypeRange{value.getType()}, ValueRange{value}, groupsAttr(builder, groups),
                                cast<ChannelHandleAttr>(nextChannel(builder.getContext())),
                                /*use_global_device_ids=*/true);
  IRMapping mapping;
  reducer.cloneInto(&op->getRegion(0), mapping);
  ownSums.insert(op);
  return op->getResult(0);
}

Value Resharder::broadcast(OpBuilder &builder, Location loc, Value value, int64_t device) {
  // The first device of a group sends.
  ReplicaGroups groups(1, {device});
  for (int64_t other = 0; other < numDevices; ++other)
    if (other != device)
      groups[0].push_back(other);
  return CollectiveBroadcastOp::create(builder, loc, TypeRange{value.getType()}, ValueRange{value},
                                       cast<DenseIntElementsAttr>(groupsAttr(builder, groups)),
                                       cast<ChannelHandleAttr>(nextChannel(builder.getContext())))
      ->getResult(0);
}

Value Resharder::allReduce(OpBuilder &builder, Location loc, Value value, const ReplicaGroups &groups, sdy::ReductionOp kind) {
  auto op = AllReduceOp::create(builder, loc, TypeRange{value.getType()}, ValueRange{value}, groupsAttr(builder, groups),
                                cast<ChannelHandleAttr>(nextChannel(builder.getContext())),
                                /*use_global_device_ids=*/true);
  ownSums.insert(op);
  OpBuilder::InsertionGuard guard(builder);
  auto scalar = RankedTensorType::get({}, cast<RankedTensorType>(value.getType()).getElementType());
  Block *block = builder.createBlock(&op->getRegion(0), {}, {scalar, scalar}, {loc, loc});
  Value a = block->getArgument(0), b = block->getArgument(1);
  Value both = kind == sdy::ReductionOp::Sum   ? Value(AddOp::create(builder, loc, scalar, a, b))
               : kind == sdy::ReductionOp::Max ? Value(MaxOp::create(builder, loc, scalar, a, b))
                                               : Value(MinOp::create(builder, loc, scalar, a, b));
  ReturnOp::create(builder, loc, both);
  return op->getResult(0);
}

} // namespace millrace::spmd

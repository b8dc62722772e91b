// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshard.cpp - Slices, all-gathers and all-reduces ------------------===//
#include "passes/spmd/Reshard.h"

#include "dialects/stablehlo/Ops.h"

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
    size /= tiles.count;
  return tensor.clone(shape);
}

ElementsAttr zerosOf(RankedTensorType type) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    APFloat zero = APFloat::getZero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
    return DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero));
  }
  Type element = type.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return DenseElementsAttr::get(type, APInt::getZero(integer.getWidth()));
  return DenseElementsAttr::get(type, APFloat::getZero(cast<FloatType>(element).getFloatSemantics()));
}

Resharder::Resharder(ModuleOp module, int64_t devices) : numDevices(devices) {
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

Value Resharder::gather(OpBuilder &builder, Location loc, Value value, Placement &placement, size_t dim,
                        const Tiles &target, const Scope &scope) {
  SmallVector<const Tiles *> same{&target};
  for (auto [i, tiles] : llvm::enumerate(placement))
    if (i != dim)
      same.push_back(&tiles);
  Tiles collected = within(placement[dim], target);
  ReplicaGroups groups = groupsFor(same, &collected, scope);
  placement[dim] = target;
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(from.getShape());
  shape[dim] *= collected.count;
  auto op = AllGatherOp::create(builder, loc, TypeRange{from.clone(shape)}, ValueRange{value}, uint64_t(dim),
                                groupsAttr(builder, groups), cast<ChannelHandleAttr>(nextChannel(builder.getContext())),
                                /*use_global_device_ids=*/true);
  return op->getResult(0);
}

Value Resharder::permute(OpBuilder &builder, Location loc, const Shard &shard, const Placement &target) {
  ReplicaGroups pairs = permutationTo(shard.placement, target, shard.scope);
  return CollectivePermuteOp::create(builder, loc, shard.value.getType(), shard.value,
                                     cast<DenseIntElementsAttr>(groupsAttr(builder, pairs)),
                                     cast<ChannelHandleAttr>(nextChannel(builder.getContext())));
}

/// Cuts dimension `to` where `from` was cut: each device gives every partner its part along `to`.
Value Resharder::exchange(OpBuilder &builder, Location loc, Value value, Placement &placement, size_t from, size_t to,
                          const Placement &target, const Scope &scope) {
  Tiles moved = within(placement[from], target[from]);
  placement[from] = target[from];
  SmallVector<const Tiles *> same;
  for (const Tiles &tiles : placement)
    same.push_back(&tiles);
  ReplicaGroups groups = groupsFor(same, &moved, scope);
  placement[to] = target[to];
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[from] *= moved.count;
  shape[to] /= moved.count;
  auto op = AllToAllOp::create(builder, loc, TypeRange{type.clone(shape)}, ValueRange{value}, uint64_t(to), uint64_t(from),
                               uint64_t(moved.count), groupsAttr(builder, groups),
                               cast<ChannelHandleAttr>(nextChannel(builder.getContext())));
  return op->getResult(0);
}

Value Resharder::slice(OpBuilder &builder, Location loc, Value value, Placement &placement, const Placement &target) {
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(from.getShape());
  SmallVector<Tiles> inner;
  for (auto [dim, tiles] : llvm::enumerate(placement)) {
    inner.push_back(within(target[dim], tiles));
    shape[dim] /= inner.back().count;
  }
  placement = target;
  auto type = from.clone(shape);
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return ConstantOp::create(builder, loc, type, constant.resizeSplat(type));
  // Equal elements along the sliced dimensions: make fewer of them.
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
    auto operand = cast<RankedTensorType>(broadcast.getOperand().getType());
    bool equal = true;
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      equal &= inner[dim].isWhole() || operand.getDimSize(i) == 1;
    if (equal)
      return BroadcastInDimOp::create(builder, loc, type, broadcast.getOperand(), broadcast.getBroadcastDimensionsAttr());
  }
  // Where a device's slice begins is looked up in a table by its number.
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value zero, id;
  SmallVector<Value> starts;
  for (auto [dim, tiles] : llvm::enumerate(inner)) {
    if (tiles.isWhole()) {
      if (!zero)
        zero = ConstantOp::create(builder, loc, scalar, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(0)));
      starts.push_back(zero);
      continue;
    }
    if (!id)
      id = PartitionIdOp::create(builder, loc, RankedTensorType::get({}, builder.getIntegerType(32, false)));
    SmallVector<int32_t> offsets;
    for (int64_t device = 0; device < numDevices; ++device)
      offsets.push_back(tiles.at(device) * shape[dim]);
    auto tableType = RankedTensorType::get({numDevices}, builder.getI32Type());
    Value table = ConstantOp::create(builder, loc, tableType, DenseElementsAttr::get(tableType, ArrayRef(offsets)));
    Value entry = DynamicSliceOp::create(builder, loc, RankedTensorType::get({1}, builder.getI32Type()), table,
                                         ValueRange{id}, builder.getDenseI64ArrayAttr({1}));
    starts.push_back(ReshapeOp::create(builder, loc, scalar, entry));
  }
  return DynamicSliceOp::create(builder, loc, type, value, starts, builder.getDenseI64ArrayAttr(shape));
}

/// `value` is defined in `block` or around it. Code is emitted in order, so what is there is before the end of the block.
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
    if (before.target == target && before.scope == shard.scope && isVisible(before.result, builder.getInsertionBlock()))
      return before.result;
  Value result = move(builder, loc, shard, target, lastUse);
  // After the last use the value may be gone, and its address another's.
  if (!lastUse)
    done[shard.value].push_back({target, shard.scope, result});
  return result;
}

/// Replaces the all_reduce that makes `value` if devices keep one slice of a dimension each, and every group has all slices.
Value Resharder::scatterSum(OpBuilder &builder, Value value, Placement &placement, const Placement &target) {
  auto sum = value.getDefiningOp<AllReduceOp>();
  if (!sum || !ownSums.contains(sum) || !sum->use_empty() || sum->getBlock() != builder.getInsertionBlock())
    return value;
  auto attr = cast<DenseIntElementsAttr>(sum.getReplicaGroups());
  SmallVector<int64_t> ids(attr.getValues<int64_t>());
  size_t size = cast<RankedTensorType>(attr.getType()).getDimSize(1);
  for (auto [dim, tiles] : llvm::enumerate(target)) {
    if (tiles == placement[dim] || !refines(tiles, placement[dim]))
      continue;
    Tiles inner = within(tiles, placement[dim]);
    if (size_t(inner.count) != size)
      continue;
    ReplicaGroups groups;
    bool complete = true;
    for (size_t begin = 0; begin < ids.size(); begin += size) {
      std::vector<int64_t> &group = groups.emplace_back(size, -1);
      for (int64_t device : ArrayRef(ids).slice(begin, size)) {
        complete &= group[inner.at(device)] == -1;
        group[inner.at(device)] = device;
      }
    }
    if (!complete)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= inner.count;
    auto op = ReduceScatterOp::create(builder, sum.getLoc(), type.clone(shape), sum->getOperand(0), uint64_t(dim),
                                      groupsAttr(builder, groups), cast<ChannelHandleAttr>(nextChannel(builder.getContext())),
                                      /*use_global_device_ids=*/true);
    op->getRegion(0).takeBody(sum->getRegion(0));
    ownSums.erase(sum);
    sum.erase();
    placement[dim] = tiles;
    return op.getResult();
  }
  return value;
}

Value Resharder::move(OpBuilder &builder, Location loc, const Shard &shard, const Placement &target, bool lastUse) {
  Placement now = shard.placement;
  Value value = shard.value;
  // Nothing to move, and collectives take no tensors without elements.
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getNumElements() == 0) {
    SmallVector<int64_t> shape(type.getShape());
    for (auto [size, before, after] : llvm::zip_equal(shape, now, target))
      size = size * before.count / after.count;
    return ConstantOp::create(builder, loc, zerosOf(type.clone(shape)));
  }
  if (llvm::all_of(llvm::zip_equal(now, target), [](auto pair) { return std::get<0>(pair).count == std::get<1>(pair).count; }))
    return permute(builder, loc, shard, target);
  // Slicing first makes what is gathered smaller, as long as the tiles still meet: a device that slices by the axis
  // along which another dimension is still cut would not find its partners.
  Placement sliced = now;
  for (auto [dim, tiles] : llvm::enumerate(target)) {
    if (!refines(tiles, sliced[dim]) || tiles == sliced[dim])
      continue;
    Tiles before = sliced[dim];
    sliced[dim] = tiles;
    if (!isUniform(sliced, shard.scope))
      sliced[dim] = before;
  }
  if (lastUse && sliced != now)
    value = scatterSum(builder, value, now, sliced);
  if (sliced != now)
    value = slice(builder, loc, value, now, sliced);
  for (size_t from = 0; from < now.size(); ++from)
    for (size_t to = 0; to < now.size(); ++to)
      if (from != to && now[from] != target[from] && now[to] != target[to] && refines(now[from], target[from]) &&
          refines(target[to], now[to]) && within(now[from], target[from]) == within(target[to], now[to]))
        value = exchange(builder, loc, value, now, from, to, target, shard.scope);
  for (auto [dim, tiles] : llvm::enumerate(target))
    if (!refines(tiles, now[dim]))
      value = gather(builder, loc, value, now, dim, refines(now[dim], tiles) ? tiles : Tiles(), shard.scope);
  if (now != target)
    value = slice(builder, loc, value, now, target);
  return value;
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
  // The first of a group sends.
  ReplicaGroups groups(1, {device});
  for (int64_t other = 0; other < numDevices; ++other)
    if (other != device)
      groups[0].push_back(other);
  return CollectiveBroadcastOp::create(builder, loc, TypeRange{value.getType()}, ValueRange{value},
                                       cast<DenseIntElementsAttr>(groupsAttr(builder, groups)),
                                       cast<ChannelHandleAttr>(nextChannel(builder.getContext())))
      ->getResult(0);
}

Value Resharder::allReduceSum(OpBuilder &builder, Location loc, Value value, const ReplicaGroups &groups) {
  auto op = AllReduceOp::create(builder, loc, TypeRange{value.getType()}, ValueRange{value}, groupsAttr(builder, groups),
                                cast<ChannelHandleAttr>(nextChannel(builder.getContext())),
                                /*use_global_device_ids=*/true);
  ownSums.insert(op);
  OpBuilder::InsertionGuard guard(builder);
  auto scalar = RankedTensorType::get({}, cast<RankedTensorType>(value.getType()).getElementType());
  Block *block = builder.createBlock(&op->getRegion(0), {}, {scalar, scalar}, {loc, loc});
  Value sum = AddOp::create(builder, loc, scalar, block->getArgument(0), block->getArgument(1));
  ReturnOp::create(builder, loc, sum);
  return op->getResult(0);
}

} // namespace millrace::spmd

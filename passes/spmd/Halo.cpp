// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Halo.cpp - Elements that neighbours hold ---------------------------===//
// Input:   tiles of 3 of a dimension of 6; device 0 wants elements [-1, 4), device 1 wants [2, 7)
// Output:  %left = collective_permute(last element) 0 -> 1 ; %right = collective_permute(first element) 1 -> 0
//          concatenate %left, tile, %right, then replace elements that are out of bounds
#include "passes/spmd/Reshard.h"
#include "passes/spmd/WindowPlan.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
Value Resharder::sliceAt(OpBuilder &builder, Location loc, Value value, size_t dim, ArrayRef<int64_t> starts, int64_t size) {
  if (llvm::all_equal(starts))
    return cutOut(builder, loc, value, dim, starts.front(), starts.front() + size);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape()), none(numDevices, 0);
  shape[dim] = size;
  SmallVector<Value> indices(shape.size(), own(builder, loc, none));
  indices[dim] = own(builder, loc, starts);
  return DynamicSliceOp::create(builder, loc, type.clone(shape), value, indices, builder.getDenseI64ArrayAttr(shape));
}

Value Resharder::keep(OpBuilder &builder, Location loc, Value value, size_t dim, ArrayRef<int64_t> begins, ArrayRef<int64_t> ends,
                      Value fill) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = type.getDimSize(dim);
  auto line = RankedTensorType::get({size}, builder.getI32Type());
  Value position = IotaOp::create(builder, loc, line, uint64_t(0)), inside;
  auto compare = [&](ArrayRef<int64_t> bounds, ComparisonDirection direction) {
    Value bound = BroadcastInDimOp::create(builder, loc, line, own(builder, loc, bounds), builder.getDenseI64ArrayAttr({}));
    Value flags = CompareOp::create(builder, loc, position, bound, direction);
    inside = inside ? Value(AndOp::create(builder, loc, flags.getType(), inside, flags)) : flags;
  };
  if (llvm::any_of(begins, [](int64_t begin) { return begin > 0; }))
    compare(begins, ComparisonDirection::GE);
  if (llvm::any_of(ends, [&](int64_t end) { return end < size; }))
    compare(ends, ComparisonDirection::LT);
  if (!inside)
    return value;
  Value everywhere = BroadcastInDimOp::create(builder, loc, RankedTensorType::get(type.getShape(), builder.getI1Type()), inside,
                                              builder.getDenseI64ArrayAttr({int64_t(dim)}));
  Value other = BroadcastInDimOp::create(builder, loc, type, fill, builder.getDenseI64ArrayAttr({}));
  return SelectOp::create(builder, loc, type, everywhere, value, other);
}

/// Concatenates the pieces, each received from a device that holds it.
Value Resharder::join(OpBuilder &builder, Location loc, const Shard &shard, size_t dim, ArrayRef<Piece> pieces) {
  SmallVector<Value> parts;
  for (const Piece &piece : pieces) {
    Value mine = cutOut(builder, loc, shard.value, dim, piece.from, piece.to), part;
    bool isOwn = false;
    for (int64_t device = 0; device < numDevices; ++device)
      isOwn |= piece.source[device] >= 0 && piece.source[device] == shard.placement[dim].at(device);
    if (isOwn || piece.rounds.empty())
      part = mine;
    for (const ReplicaGroups &pairs : piece.rounds) {
      Value arrived = permute(builder, loc, mine, pairs);
      if (!part) {
        part = arrived;
        continue;
      }
      SmallVector<int64_t> isTarget(numDevices, 0), zero(numDevices, 0);
      for (const auto &pair : pairs)
        isTarget[pair[1]] = 1;
      Value chosen = CompareOp::create(builder, loc, own(builder, loc, isTarget), own(builder, loc, zero), ComparisonDirection::NE);
      part = SelectOp::create(builder, loc, part.getType(), chosen, arrived, part);
    }
    parts.push_back(part);
  }
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<RankedTensorType>(parts.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 0;
  for (Value part : parts)
    shape[dim] += cast<RankedTensorType>(part.getType()).getDimSize(dim);
  return ConcatenateOp::create(builder, loc, type.clone(shape), parts, uint64_t(dim));
}

/// Returns elements [starts[device], starts[device] + width) of a dimension, of which `buffer` holds the elements from `begins[device]` on. Elements
/// that are not in the buffer are `fill`, a scalar, on devices that need them, and other elements of the buffer elsewhere.
Value Resharder::windowOf(OpBuilder &builder, Location loc, Value buffer, size_t dim, ArrayRef<int64_t> begins, ArrayRef<int64_t> starts,
                          int64_t width, int64_t size, Value fill) {
  SmallVector<int64_t> offsets;
  int64_t low = 0, high = 0, length = cast<RankedTensorType>(buffer.getType()).getDimSize(dim);
  for (auto [begin, start] : llvm::zip_equal(begins, starts)) {
    // A device that needs no element of the buffer may read anywhere.
    bool isInside = start < size && start + width > 0, touches = start < begin + length && start + width > begin;
    offsets.push_back(isInside && touches ? start - begin : 0);
    low = std::max(low, -offsets.back());
    high = std::max(high, offsets.back() + width - length);
  }
  if (low > 0 || high > 0) {
    auto type = cast<RankedTensorType>(buffer.getType());
    SmallVector<int64_t> shape(type.getShape()), before(shape.size(), 0), after(before), none(before);
    before[dim] = low;
    after[dim] = high;
    shape[dim] += low + high;
    buffer = PadOp::create(builder, loc, type.clone(shape), buffer, fill ? fill : zeroOf(builder, loc, buffer),
                           builder.getDenseI64ArrayAttr(before), builder.getDenseI64ArrayAttr(after), builder.getDenseI64ArrayAttr(none));
  }
  for (int64_t &offset : offsets)
    offset += low;
  return sliceAt(builder, loc, buffer, dim, offsets, width);
}

/// Receives the windows' elements that other devices hold, as the plan says, and combines them with those of the own tile.
Value Resharder::transfer(OpBuilder &builder, Location loc, const Shard &shard, size_t dim, ArrayRef<Transfer> transfers,
                          ArrayRef<int64_t> starts, int64_t width, Value fill) {
  int64_t size = shard.shape[dim], tile = tileSize(size, shard.placement[dim]);
  // Received elements may reach further than the window; they are placed next to it where none are received.
  int64_t left = 0, right = 0;
  for (const Transfer &each : transfers)
    for (int64_t place : each.places) {
      left = std::max(left, -place);
      right = std::max(right, place + each.width - width);
    }
  SmallVector<int64_t> begins, wider;
  for (auto [device, start] : llvm::enumerate(starts)) {
    begins.push_back(shard.placement[dim].at(device) * tile);
    wider.push_back(start - left);
  }
  Value buffer = windowOf(builder, loc, shard.value, dim, begins, wider, left + width + right, size, fill);
  SmallVector<int64_t> none(numDevices, 0);
  for (const Transfer &each : transfers) {
    Value arrived = permute(builder, loc, sliceAt(builder, loc, shard.value, dim, each.froms, each.width), each.pairs);
    SmallVector<Value> indices(shard.shape.size(), own(builder, loc, none));
    SmallVector<int64_t> places;
    for (int64_t place : each.places)
      places.push_back(left + place);
    indices[dim] = own(builder, loc, places);
    buffer = DynamicUpdateSliceOp::create(builder, loc, buffer.getType(), buffer, arrived, indices);
  }
  return cutOut(builder, loc, buffer, dim, left, left + width);
}

Value Resharder::window(OpBuilder &builder, Location loc, const Shard &shard, size_t dim, ArrayRef<int64_t> starts, int64_t width,
                        Value fill) {
  const Tiles &tiles = shard.placement[dim];
  int64_t size = shard.shape[dim];
  Value buffer = shard.value, result;
  SmallVector<int64_t> begins(numDevices, 0); // first element of each device's buffer, as an index of the dimension
  if (!tiles.isWhole()) {
    SmallVector<const Tiles *> same;
    for (auto [i, other] : llvm::enumerate(shard.placement))
      if (i != dim)
        same.push_back(&other);
    WindowPlan plan = planWindow(size, tiles, starts, width, groupsFor(same, &tiles, shard.scope));
    if (plan.way == WindowPlan::Way::Gather) {
      Shard all = shard;
      gather(builder, loc, all, dim, Tiles());
      buffer = all.value;
    } else if (plan.way == WindowPlan::Way::Transfers) {
      result = transfer(builder, loc, shard, dim, plan.transfers, starts, width, fill);
    } else if (!plan.pieces.empty()) {
      buffer = join(builder, loc, shard, dim, plan.pieces);
      begins = plan.begins;
    }
  }
  if (!result)
    result = windowOf(builder, loc, buffer, dim, begins, starts, width, size, fill);
  if (!fill)
    return result;
  SmallVector<int64_t> from, to;
  for (int64_t start : starts) {
    from.push_back(std::clamp<int64_t>(-start, 0, width));
    to.push_back(std::clamp<int64_t>(size - start, 0, width));
  }
  return keep(builder, loc, result, dim, from, to, fill);
}

} // namespace millrace::spmd

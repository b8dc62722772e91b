// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Halo.cpp - Elements that neighbours hold ---------------------------===//
// Input:   tiles of 3 of a dimension of 6; device 0 wants elements [-1, 4), device 1 wants [2, 7)
// Output:  %left = collective_permute(last element) 0 -> 1 ; %right = collective_permute(first element) 1 -> 0
//          concatenate %left, tile, %right, then what lies outside of the dimension replaced
#include "passes/spmd/Reshard.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
namespace {

/// Elements [from, to) of one tile for every device; which tile differs by device.
struct Piece {
  int64_t from, to = 0;
  SmallVector<int64_t> source; ///< tile by device, -1 for none
};

/// The pieces that make up a window, in order; they meet at the tiles' boundaries. Of a device's piece `number`, the tile is
/// `anchors[device] + first + number`.
struct Plan {
  SmallVector<Piece> pieces;
  SmallVector<int64_t> anchors;
  int64_t first = 0;
  SmallVector<SmallVector<ReplicaGroups>> rounds; ///< of each piece, see roundsOf

  int64_t length() const {
    int64_t sum = 0;
    for (const Piece &piece : pieces)
      sum += piece.to - piece.from;
    return sum;
  }

  /// Elements that a device is sent, at most.
  int64_t received() const {
    int64_t sum = 0;
    for (auto [piece, exchanges] : llvm::zip_equal(pieces, rounds))
      sum += int64_t(exchanges.size()) * (piece.to - piece.from);
    return sum;
  }
};

Plan planPieces(int64_t size, const Tiles &tiles, ArrayRef<int64_t> starts, int64_t width, ArrayRef<int64_t> anchors) {
  int64_t tile = tileSize(size, tiles), last = -1;
  Plan plan;
  plan.anchors.assign(anchors.begin(), anchors.end());
  bool any = false;
  for (auto [start, anchor] : llvm::zip_equal(starts, anchors)) {
    int64_t begin = std::max(start, int64_t(0)), end = std::min(start + width, size);
    if (begin >= end)
      continue;
    plan.first = any ? std::min(plan.first, begin / tile - anchor) : begin / tile - anchor;
    last = any ? std::max(last, (end - 1) / tile - anchor) : (end - 1) / tile - anchor;
    any = true;
  }
  if (!any)
    return plan;
  for (int64_t number = plan.first; number <= last; ++number) {
    Piece piece{tile, 0, {}};
    for (auto [start, anchor] : llvm::zip_equal(starts, anchors)) {
      int64_t source = anchor + number;
      int64_t begin = std::max({start, source * tile, int64_t(0)}), end = std::min({start + width, (source + 1) * tile, size});
      bool wanted = begin < end;
      piece.source.push_back(wanted ? source : -1);
      if (wanted) {
        piece.from = std::min(piece.from, begin - source * tile);
        piece.to = std::max(piece.to, end - source * tile);
      }
    }
    plan.pieces.push_back(piece);
  }
  for (auto [i, piece] : llvm::enumerate(plan.pieces)) {
    if (i + 1 < plan.pieces.size())
      piece.to = tile;
    if (i > 0)
      piece.from = 0;
  }
  return plan;
}

/// Permutations, each with one target per source and one source per target. Devices that have the piece are in none.
SmallVector<ReplicaGroups> roundsOf(const Piece &piece, const Tiles &tiles, const ReplicaGroups &groups) {
  SmallVector<ReplicaGroups> rounds;
  SmallVector<std::vector<bool>> sends;
  for (const auto &group : groups)
    for (int64_t device : group) {
      int64_t tile = piece.source[device];
      if (tile < 0 || tile == tiles.at(device))
        continue;
      int64_t source = group[tile];
      size_t round = 0;
      while (round < rounds.size() && sends[round][source])
        ++round;
      if (round == rounds.size()) {
        rounds.emplace_back();
        sends.emplace_back(tiles.of.size());
      }
      sends[round][source] = true;
      rounds[round].push_back({source, device});
    }
  return rounds;
}

/// The plan that sends least, then the one with the shortest buffer. All devices have a piece in the same place of the buffer,
/// and a piece is as wide as the widest that a device wants of it. So it matters which pieces share a place: those of the tiles
/// where the windows begin suit windows that go elsewhere altogether (reversal), those at the same distance from the device's own
/// tile suit windows that are the own tile but for some elements, on the left of one device and on the right of another (padding).
Plan bestPlan(int64_t size, const Tiles &tiles, ArrayRef<int64_t> starts, int64_t width, const ReplicaGroups &groups) {
  int64_t tile = tileSize(size, tiles);
  SmallVector<int64_t> begins, own, mixed;
  for (auto [device, start] : llvm::enumerate(starts)) {
    int64_t at = tiles.at(device);
    begins.push_back(llvm::divideFloorSigned(start, tile));
    own.push_back(at);
    bool touches = start < std::min((at + 1) * tile, size) && start + width > at * tile;
    mixed.push_back(touches ? at : begins.back());
  }
  std::optional<Plan> best;
  for (ArrayRef<int64_t> anchors : {ArrayRef<int64_t>(begins), ArrayRef<int64_t>(own), ArrayRef<int64_t>(mixed)}) {
    Plan plan = planPieces(size, tiles, starts, width, anchors);
    for (const Piece &piece : plan.pieces)
      plan.rounds.push_back(roundsOf(piece, tiles, groups));
    if (!best || std::pair(plan.received(), plan.length()) < std::pair(best->received(), best->length()))
      best = std::move(plan);
  }
  return std::move(*best);
}

} // namespace

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

Value Resharder::window(OpBuilder &builder, Location loc, const Shard &shard, size_t dim, ArrayRef<int64_t> starts, int64_t width,
                        Value fill) {
  const Tiles &tiles = shard.placement[dim];
  int64_t size = shard.shape[dim], tile = tileSize(size, tiles);
  Value buffer = shard.value;
  SmallVector<int64_t> begins(numDevices, 0); // of the buffer, in the whole
  if (!tiles.isWhole()) {
    SmallVector<const Tiles *> same;
    for (auto [i, other] : llvm::enumerate(shard.placement))
      if (i != dim)
        same.push_back(&other);
    ReplicaGroups groups = groupsFor(same, &tiles, shard.scope);
    Plan plan = bestPlan(size, tiles, starts, width, groups);
    if (plan.received() >= (tiles.count - 1) * tile) {
      Shard all = shard;
      gather(builder, loc, all, dim, Tiles());
      buffer = all.value;
    } else if (!plan.pieces.empty()) {
      SmallVector<Value> parts;
      for (auto [piece, exchanges] : llvm::zip_equal(plan.pieces, plan.rounds)) {
        Value mine = cutOut(builder, loc, shard.value, dim, piece.from, piece.to), part;
        bool isOwn = false;
        for (int64_t device = 0; device < numDevices; ++device)
          isOwn |= piece.source[device] >= 0 && piece.source[device] == tiles.at(device);
        if (isOwn || exchanges.empty())
          part = mine;
        for (const ReplicaGroups &pairs : exchanges) {
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
      buffer = parts.front();
      if (parts.size() > 1) {
        auto type = cast<RankedTensorType>(buffer.getType());
        SmallVector<int64_t> shape(type.getShape());
        shape[dim] = 0;
        for (Value part : parts)
          shape[dim] += cast<RankedTensorType>(part.getType()).getDimSize(dim);
        buffer = ConcatenateOp::create(builder, loc, type.clone(shape), parts, uint64_t(dim));
      }
      for (auto [begin, anchor] : llvm::zip_equal(begins, plan.anchors))
        begin = (anchor + plan.first) * tile + plan.pieces.front().from;
    }
  }
  // Where the window lies in the buffer; anywhere if it has nothing of the whole.
  SmallVector<int64_t> offsets, from, to;
  int64_t low = 0, high = 0, length = cast<RankedTensorType>(buffer.getType()).getDimSize(dim);
  for (auto [begin, start] : llvm::zip_equal(begins, starts)) {
    from.push_back(std::clamp<int64_t>(-start, 0, width));
    to.push_back(std::clamp<int64_t>(size - start, 0, width));
    offsets.push_back(from.back() < to.back() ? start - begin : 0);
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
  Value result = sliceAt(builder, loc, buffer, dim, offsets, width);
  return fill ? keep(builder, loc, result, dim, from, to, fill) : result;
}

} // namespace millrace::spmd

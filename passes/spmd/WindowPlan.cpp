// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowPlan.cpp - Plan the exchange of windows of a sharded dimension ===//
#include "passes/spmd/WindowPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace llvm;

namespace millrace::spmd {
namespace {

/// The windows that the devices need.
struct Request {
  int64_t size, tile;
  const Tiles &tiles;
  ArrayRef<int64_t> starts;
  int64_t width;
  const ReplicaGroups &groups;

  /// Returns the elements [begin, end) of tile `number` that a device needs.
  std::pair<int64_t, int64_t> wantedOf(int64_t number, int64_t start) const {
    return {std::max({start, number * tile, int64_t(0)}), std::min({start + width, (number + 1) * tile, size})};
  }
};

/// A plan with its cost: the elements that all messages transfer together, and those of the device that receives the most.
struct Costed {
  WindowPlan plan;
  int64_t most = 0;
};

//===-- Pieces ------------------------------------------------------------===//

/// Returns permutations, each with one target per source and one source per target.
SmallVector<ReplicaGroups> roundsOf(const Piece &piece, const Request &request) {
  SmallVector<ReplicaGroups> rounds;
  SmallVector<std::vector<bool>> sends;
  for (const auto &group : request.groups)
    for (int64_t device : group) {
      int64_t tile = piece.source[device];
      if (tile < 0 || tile == request.tiles.at(device))
        continue;
      int64_t source = group[tile];
      size_t round = 0;
      while (round < rounds.size() && sends[round][source])
        ++round;
      if (round == rounds.size()) {
        rounds.emplace_back();
        sends.emplace_back(request.tiles.of.size());
      }
      sends[round][source] = true;
      rounds[round].push_back({source, device});
    }
  return rounds;
}

/// Plans pieces that form a window, in order; they meet at the tiles' boundaries. Piece `number` of a device comes from tile `anchors[device]` + the
/// number of the first piece + `number`.
WindowPlan planPieces(const Request &request, ArrayRef<int64_t> anchors) {
  int64_t first = 0, last = -1;
  WindowPlan plan;
  plan.way = WindowPlan::Way::Pieces;
  plan.begins.assign(anchors.size(), 0);
  bool any = false;
  for (auto [start, anchor] : zip_equal(request.starts, anchors)) {
    int64_t begin = std::max(start, int64_t(0)), end = std::min(start + request.width, request.size);
    if (begin >= end)
      continue;
    int64_t low = begin / request.tile - anchor, high = (end - 1) / request.tile - anchor;
    first = any ? std::min(first, low) : low;
    last = any ? std::max(last, high) : high;
    any = true;
  }
  if (!any)
    return plan;
  for (int64_t number = first; number <= last; ++number) {
    Piece piece{request.tile, 0, {}, {}};
    for (auto [start, anchor] : zip_equal(request.starts, anchors)) {
      int64_t source = anchor + number;
      auto [begin, end] = request.wantedOf(source, start);
      bool wanted = begin < end;
      piece.source.push_back(wanted ? source : -1);
      if (wanted) {
        piece.from = std::min(piece.from, begin - source * request.tile);
        piece.to = std::max(piece.to, end - source * request.tile);
      }
    }
    plan.pieces.push_back(piece);
  }
  for (auto [i, piece] : enumerate(plan.pieces)) {
    if (i + 1 < plan.pieces.size())
      piece.to = request.tile;
    if (i > 0)
      piece.from = 0;
    piece.rounds = roundsOf(piece, request);
    plan.received += int64_t(piece.rounds.size()) * piece.size();
  }
  for (auto [begin, anchor] : zip_equal(plan.begins, anchors))
    begin = (anchor + first) * request.tile + plan.pieces.front().from;
  return plan;
}

int64_t lengthOf(const WindowPlan &plan) {
  int64_t sum = 0;
  for (const Piece &piece : plan.pieces)
    sum += piece.size();
  return sum;
}

/// Returns the plan that sends the fewest elements; among equal ones, that with the shortest buffer. The anchors decide which pieces share a
/// position: anchors at the tiles where the windows begin suit windows in entirely different places (reversal); anchors at the device's own tile suit
/// windows that are the own tile except for a few elements, on the left for one device and on the right for another (padding).
Costed bestPieces(const Request &request) {
  SmallVector<int64_t> begins, own, mixed;
  for (auto [device, start] : enumerate(request.starts)) {
    int64_t at = request.tiles.at(device);
    begins.push_back(divideFloorSigned(start, request.tile));
    own.push_back(at);
    bool touches = start < std::min((at + 1) * request.tile, request.size) && start + request.width > at * request.tile;
    mixed.push_back(touches ? at : begins.back());
  }
  std::optional<WindowPlan> best;
  for (ArrayRef<int64_t> anchors : {ArrayRef<int64_t>(begins), ArrayRef<int64_t>(own), ArrayRef<int64_t>(mixed)}) {
    WindowPlan plan = planPieces(request, anchors);
    if (!best || std::pair(plan.received, lengthOf(plan)) < std::pair(best->received, lengthOf(*best)))
      best = std::move(plan);
  }
  std::vector<int64_t> arrives(request.starts.size());
  for (const Piece &piece : best->pieces)
    for (const ReplicaGroups &round : piece.rounds)
      for (const auto &pair : round)
        arrives[pair[1]] += piece.size();
  return {std::move(*best), *max_element(arrives)};
}

//===-- Transfers ---------------------------------------------------------===//

/// The elements of one device's tile that another device needs.
struct Segment {
  int64_t source, target, tile, begin, end;

  int64_t size() const { return end - begin; }
};

/// Assigns segments to messages. No device sends or receives twice in one message, and there are as many messages as a device has to send or receive: if
/// no message is left for a segment, two messages are swapped along a path of segments that lead from one device to the next.
class Messages {
public:
  explicit Messages(ArrayRef<Segment> segments, size_t devices) : segments(segments), numbers(segments.size(), -1) {
    std::vector<size_t> sends(devices), gets(devices);
    for (const Segment &segment : segments)
      count = std::max({count, ++sends[segment.source], ++gets[segment.target]});
    for (auto &side : taken)
      side.assign(devices, std::vector<int>(count, -1));
    for (int segment = 0; segment < int(segments.size()); ++segment)
      add(segment);
  }

  size_t count = 0;
  int numberOf(size_t segment) const { return numbers[segment]; }

private:
  int64_t end(int segment, int side) const { return side == 0 ? segments[segment].source : segments[segment].target; }
  void set(int segment, int number) {
    numbers[segment] = number;
    for (int side : {0, 1})
      taken[side][end(segment, side)][number] = segment;
  }
  int free(int segment, int side) const { return int(find(taken[side][end(segment, side)], -1) - taken[side][end(segment, side)].begin()); }

  void add(int segment) {
    for (int number = 0; number < int(count); ++number)
      if (taken[0][end(segment, 0)][number] < 0 && taken[1][end(segment, 1)][number] < 0)
        return set(segment, number);
    int mine = free(segment, 0), other = free(segment, 1), number = mine, side = 1;
    std::vector<int> path;
    for (int next = taken[1][end(segment, 1)][mine]; next >= 0; next = taken[side][end(path.back(), side)][number]) {
      path.push_back(next);
      side = 1 - side;
      number = number == mine ? other : mine;
    }
    for (int each : path)
      for (int i : {0, 1})
        taken[i][end(each, i)][numbers[each]] = -1;
    for (int each : path)
      set(each, numbers[each] == mine ? other : mine);
    set(segment, mine);
  }

  ArrayRef<Segment> segments;
  std::vector<int> numbers;
  std::vector<std::vector<int>> taken[2]; ///< segments by side, device and message
};

/// Transfers in more messages are not chosen, because pieces need less work where they arrive, and a gather is a single message. Unit: messages.
/// Source: judgement, not measured alone.
constexpr size_t kMaxTransfers = 8;

/// Sends every device the elements that it needs of each other tile. A message is as wide as its longest segment; a shorter segment is sent together with
/// neighbouring elements. Nothing if that takes more than kMaxTransfers messages.
std::optional<Costed> planTransfers(const Request &request) {
  std::vector<Segment> segments;
  for (const auto &group : request.groups)
    for (int64_t device : group) {
      int64_t start = request.starts[device], begin = std::max(start, int64_t(0)), end = std::min(start + request.width, request.size);
      for (int64_t tile = begin / request.tile; tile * request.tile < end; ++tile)
        if (auto [from, to] = request.wantedOf(tile, start); from < to && tile != request.tiles.at(device))
          segments.push_back({group[tile], device, tile, from, to});
    }
  // The number of messages is that of the device that sends or receives the most segments. It is known before the assignment, which takes long for many
  // segments.
  size_t devices = request.starts.size(), most = 0;
  std::vector<size_t> sends(devices), gets(devices);
  for (const Segment &segment : segments)
    most = std::max({most, ++sends[segment.source], ++gets[segment.target]});
  if (most > kMaxTransfers)
    return std::nullopt;
  // The longest segments come first, so that segments of equal size share a message.
  stable_sort(segments, [](const Segment &a, const Segment &b) { return a.size() > b.size(); });
  Messages messages(segments, devices);
  Costed costed;
  costed.plan.way = WindowPlan::Way::Transfers;
  costed.plan.transfers.resize(messages.count);
  for (auto [i, segment] : enumerate(segments)) {
    Transfer &transfer = costed.plan.transfers[messages.numberOf(i)];
    transfer.width = std::max(transfer.width, segment.size());
  }
  for (Transfer &transfer : costed.plan.transfers) {
    transfer.froms.assign(devices, 0);
    transfer.places.assign(devices, request.width);
    costed.plan.received += transfer.width;
  }
  std::vector<int64_t> arrives(devices);
  for (auto [i, segment] : enumerate(segments)) {
    Transfer &transfer = costed.plan.transfers[messages.numberOf(i)];
    int64_t from = std::min(segment.begin - segment.tile * request.tile, request.tile - transfer.width);
    transfer.pairs.push_back({segment.source, segment.target});
    transfer.froms[segment.source] = from;
    transfer.places[segment.target] = segment.tile * request.tile + from - request.starts[segment.target];
    arrives[segment.target] += transfer.width;
  }
  costed.most = *max_element(arrives);
  return costed;
}

} // namespace

WindowPlan planWindow(int64_t size, const Tiles &tiles, ArrayRef<int64_t> starts, int64_t width, const ReplicaGroups &groups) {
  Request request{size, tileSize(size, tiles), tiles, starts, width, groups};
  WindowPlan all;
  all.received = (tiles.count - 1) * request.tile;
  Costed pieces = bestPieces(request);
  std::optional<Costed> transfers = planTransfers(request);
  bool isLess = transfers && transfers->plan.received <= pieces.plan.received && transfers->most < pieces.most;
  WindowPlan &least = isLess ? transfers->plan : pieces.plan;
  return least.received < all.received ? std::move(least) : all;
}

} // namespace millrace::spmd

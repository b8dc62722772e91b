// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardPlan.cpp - Which collectives change a placement -------------===//
// Several plans, of which the cheapest one counts. One looks at the tiles alone and takes every placement, filled up tiles and
// devices in any order included. Another knows the tiles as axes of a mesh, which it can move one by one. Where that fails because tiles
// are filled up, so that parts of tiles are no tiles, a search finds the cheapest way on which every dimension is as at the start, as at
// the end, or whole.
#include "passes/spmd/ReshardPlan.h"

#include "passes/sharding/reshard/ReshardSteps.h"
#include "passes/spmd/WindowPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace millrace::spmd {
namespace {

//===-- By tiles ----------------------------------------------------------===//

/// Returns a placement of the same tiles as `now` on other devices, from which one exchange between two dimensions leads towards the target. Returns
/// nullopt if gathering transfers less to every device than the permutation of devices and the exchange together, or if there is nothing to exchange.
std::optional<Placement> placesToExchangeFrom(const Placement &now, const Placement &target, ArrayRef<int64_t> shape, const Scope &scope) {
  for (size_t a = 0; a < now.size(); ++a)
    for (size_t b = 0; b < now.size(); ++b) {
      if (a == b || now[a].count <= 2 || now[a].count <= target[a].count || now[a].count % target[a].count != 0 ||
          target[b].count != now[b].count * (now[a].count / target[a].count))
        continue;
      int32_t parts = now[a].count / target[a].count;
      Placement places = now;
      for (size_t dim = 0; dim < now.size(); ++dim)
        if (dim != a && dim != b && now[dim].count == target[dim].count)
          places[dim] = target[dim];
      Tiles inner{parts, target[b].of}, outer{target[b].count / parts, target[b].of};
      for (size_t device = 0; device < target[b].of.size(); ++device) {
        inner.of[device] = target[b].of[device] % parts;
        outer.of[device] = target[b].of[device] / parts;
      }
      places[a] = compose(target[a], inner);
      places[b] = normal(outer);
      if (subdivides(places[a], target[a], shape[a]) && subdivides(target[b], places[b], shape[b]) && isUniform(places, scope))
        return places;
    }
  return std::nullopt;
}

std::vector<Move> planByTiles(const Placement &from, const Placement &target, ArrayRef<int64_t> shape, const Scope &scope) {
  std::vector<Move> moves;
  if (all_of(zip_equal(from, target), [](auto pair) { return std::get<0>(pair).count == std::get<1>(pair).count; })) {
    moves.push_back({Move::Kind::Permute, target});
    return moves;
  }
  // Slicing first makes the gathered value smaller, as long as the members of a gather still hold matching tiles: a device that slices by the axis
  // along which another dimension is still sharded would not find its partners.
  Placement now = from;
  for (auto [dim, tiles] : enumerate(target)) {
    if (!subdivides(tiles, now[dim], shape[dim]) || tiles == now[dim])
      continue;
    Tiles before = now[dim];
    now[dim] = tiles;
    if (!isUniform(now, scope))
      now[dim] = before;
  }
  if (now != from)
    moves.push_back({Move::Kind::Slice, now});
  // A permutation of devices comes first if dimensions can then be exchanged instead of gathered.
  bool isGathered = any_of(zip_equal(now, target, shape), [](auto each) {
    auto &[tiles, wanted, size] = each;
    return !subdivides(wanted, tiles, size) && !subdivides(tiles, wanted, size);
  });
  if (auto places = isGathered ? placesToExchangeFrom(now, target, shape, scope) : std::nullopt; places && *places != now) {
    now = *places;
    moves.push_back({Move::Kind::Permute, now});
  }
  for (size_t a = 0; a < now.size(); ++a)
    for (size_t b = 0; b < now.size(); ++b)
      if (a != b && now[a] != target[a] && now[b] != target[b] && subdivides(now[a], target[a], shape[a]) &&
          subdivides(target[b], now[b], shape[b]) && within(now[a], target[a]) == within(target[b], now[b])) {
        now[a] = target[a];
        now[b] = target[b];
        moves.push_back({Move::Kind::Exchange, now, a, b});
      }
  for (auto [dim, tiles] : enumerate(target))
    if (!subdivides(tiles, now[dim], shape[dim])) {
      now[dim] = subdivides(now[dim], tiles, shape[dim]) ? tiles : Tiles();
      moves.push_back({Move::Kind::Gather, now, dim});
    }
  if (now != target)
    moves.push_back({Move::Kind::Slice, target});
  return moves;
}

//===-- By axes -----------------------------------------------------------===//

/// Digits of prime sizes into which the tiles of several dimensions factor, such as 2, 2 and 3 for an axis of twelve devices.
struct Digits {
  const Scope &scope;
  std::vector<Tiles> digits = {};
  sharding::DimAxes axes = {}; ///< numbers of digits per dimension, major to minor

  bool areIndependent() const { return isUniform(to_vector(make_pointer_range(digits)), scope); }

  /// Assigns digits to `dims[0]`, of which `rest` tiles are not assigned yet, and to the dimensions after it. The order of the primes decides whether
  /// another dimension has equal digits: digits that agree are independent axes.
  bool take(ArrayRef<const Tiles *> dims, int64_t rest) {
    if (rest == 1) {
      dims = dims.drop_front();
      if (dims.empty())
        return true;
      axes.emplace_back();
      bool taken = take(dims, dims[0]->count);
      if (!taken)
        axes.pop_back();
      return taken;
    }
    int64_t left = rest;
    for (int64_t prime = 2; left > 1; ++prime) {
      if (left % prime != 0)
        continue;
      while (left % prime == 0)
        left /= prime;
      Tiles digit{prime, dims[0]->of};
      for (int32_t &place : digit.of)
        place = place / (rest / prime) % prime;
      size_t number = find(digits, digit) - digits.begin();
      bool isNew = number == digits.size();
      if (isNew)
        digits.push_back(std::move(digit));
      axes.back().push_back({int32_t(number), 1, prime});
      if ((!isNew || areIndependent()) && take(dims, rest / prime))
        return true;
      axes.back().pop_back();
      if (isNew)
        digits.pop_back();
    }
    return false;
  }
};

/// Returns nullopt if tiles are not full, if the digits of both placements are not axes of one mesh, or if the axes have no plan.
std::optional<std::vector<Move>> planByAxes(const Placement &from, const Placement &target, ArrayRef<int64_t> shape, const Scope &scope) {
  auto areFull = [&](const Placement &placement) {
    return all_of(zip_equal(placement, shape), [](auto each) { return divides(std::get<0>(each), std::get<1>(each)); });
  };
  if (!areFull(from))
    return std::nullopt;
  SmallVector<const Tiles *> dims;
  for (const Placement *placement : {&from, &target})
    append_range(dims, make_pointer_range(*placement));
  Digits known{scope};
  known.axes.emplace_back();
  if (!known.take(dims, dims[0]->count))
    return std::nullopt;
  ArrayRef<sharding::Axes> axes(known.axes);
  sharding::DimAxes before(axes.take_front(from.size())), after(axes.drop_front(from.size()));
  auto steps = sharding::stepsBetween(before, after);
  if (!steps)
    return std::nullopt;
  std::vector<Move> moves;
  Placement now = from;
  for (const sharding::ReshardStep &step : *steps) {
    Placement result(from.size());
    for (auto [tiles, split] : zip_equal(result, step.result))
      for (const sharding::Axis &axis : split)
        tiles = compose(tiles, known.digits[axis.axis]);
    if (!areFull(result))
      return std::nullopt;
    using Kind = sharding::ReshardStep::Kind;
    if (step.kind == Kind::Gather) {
      for (size_t dim = 0; dim < result.size(); ++dim)
        if (now[dim] != result[dim]) {
          now[dim] = result[dim];
          moves.push_back({Move::Kind::Gather, now, dim});
        }
    } else {
      moves.push_back({step.kind == Kind::Slice     ? Move::Kind::Slice
                       : step.kind == Kind::Permute ? Move::Kind::Permute
                                                    : Move::Kind::Exchange,
                       result, size_t(step.from), size_t(step.to)});
    }
    now = result;
  }
  return moves;
}

//===-- What plans cost ---------------------------------------------------===//

int64_t elements(const Placement &placement, ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (auto [size, tiles] : zip_equal(shape, placement))
    count *= tileSize(size, tiles);
  return count;
}

int64_t receivedBy(const Move &move, const Placement &before, ArrayRef<int64_t> shape, const Scope &scope) {
  int64_t had = elements(before, shape), has = elements(move.result, shape);
  switch (move.kind) {
  case Move::Kind::Slice:
    return 0;
  case Move::Kind::Permute:
    return has;
  case Move::Kind::Exchange:
    return had / tileSize(shape[move.to], before[move.to]) * tileSize(shape[move.to], move.result[move.to]) *
           (move.result[move.to].count / before[move.to].count - 1);
  case Move::Kind::Gather:
    return had * (before[move.from].count / move.result[move.from].count - 1);
  case Move::Kind::Fetch: {
    SmallVector<const Tiles *> others;
    for (auto [dim, tiles] : enumerate(before))
      if (dim != move.from)
        others.push_back(&tiles);
    const Tiles &tiles = before[move.from], &target = move.result[move.from];
    int64_t size = shape[move.from], width = tileSize(size, target);
    SmallVector<int64_t> starts;
    for (size_t device = 0; device < scope.group.size(); ++device)
      starts.push_back(target.at(device) * width);
    return planWindow(size, tiles, starts, width, groupsFor(others, &tiles, scope)).received * (had / tileSize(size, tiles));
  }
  }
  llvm_unreachable("all kinds are there");
}

//===-- The cheapest way between few placements ---------------------------===//

/// A shortest path over placements in which every changing dimension has the tiles of the start, those of the end, or none, in all combinations.
struct Search {
  const Placement &from, &target;
  ArrayRef<int64_t> shape;
  const Scope &scope;

  /// Returns the placements that one move reaches.
  std::vector<Move> movesFrom(const Placement &now) const {
    std::vector<Move> moves;
    auto add = [&](Move::Kind kind, Placement result, size_t a, size_t b) {
      if (result != now && isUniform(result, scope))
        moves.push_back({kind, std::move(result), a, b});
    };
    Placement permuted = now;
    for (size_t a = 0; a < now.size(); ++a) {
      if (from[a] == target[a])
        continue;
      for (const Tiles &tiles : {from[a], target[a], Tiles()}) {
        if (tiles == now[a])
          continue;
        Placement result = now;
        result[a] = tiles;
        bool isFiner = subdivides(tiles, now[a], shape[a]), isCoarser = subdivides(now[a], tiles, shape[a]);
        add(isFiner ? Move::Kind::Slice : isCoarser ? Move::Kind::Gather : Move::Kind::Fetch, result, a, 0);
        if (!isCoarser)
          continue;
        for (size_t b = 0; b < now.size(); ++b)
          for (const Tiles &others : {from[b], target[b]})
            if (a != b && others != now[b] && subdivides(others, now[b], shape[b]) && within(now[a], tiles) == within(others, now[b])) {
              Placement both = result;
              both[b] = others;
              add(Move::Kind::Exchange, both, a, b);
            }
      }
      if (now[a].count == target[a].count)
        permuted[a] = target[a];
    }
    add(Move::Kind::Permute, permuted, 0, 0);
    return moves;
  }

  std::vector<Move> run() const {
    auto key = [](const Placement &placement) {
      std::vector<std::vector<int32_t>> result;
      for (const Tiles &tiles : placement)
        result.push_back(tiles.of);
      return result;
    };
    using Key = decltype(key(from));
    struct Reached {
      std::pair<int64_t, size_t> cost; ///< elements, then moves
      std::vector<Move> moves;
    };
    std::map<Key, Reached> reached{{key(from), {}}};
    std::set<std::pair<std::pair<int64_t, size_t>, Key>> open{{{0, 0}, key(from)}};
    while (!open.empty()) {
      Reached current = reached[open.begin()->second];
      open.erase(open.begin());
      const Placement &now = current.moves.empty() ? from : current.moves.back().result;
      if (now == target)
        return current.moves;
      for (Move &move : movesFrom(now)) {
        Key next = key(move.result);
        std::pair cost(current.cost.first + receivedBy(move, now, shape, scope), current.cost.second + 1);
        auto [it, isNew] = reached.try_emplace(next);
        if (!isNew && it->second.cost <= cost)
          continue;
        if (!isNew)
          open.erase({it->second.cost, next});
        it->second = {cost, current.moves};
        it->second.moves.push_back(std::move(move));
        open.insert({cost, next});
      }
    }
    llvm_unreachable("everything can be gathered and cut again");
  }
};

/// Merges consecutive slices.
std::vector<Move> joinSlices(std::vector<Move> moves) {
  std::vector<Move> joined;
  for (Move &move : moves)
    if (!joined.empty() && joined.back().kind == Move::Kind::Slice && move.kind == Move::Kind::Slice)
      joined.back() = std::move(move);
    else
      joined.push_back(std::move(move));
  return joined;
}

} // namespace

int64_t received(ArrayRef<Move> moves, const Placement &from, ArrayRef<int64_t> shape, const Scope &scope) {
  int64_t total = 0;
  const Placement *before = &from;
  for (const Move &move : moves) {
    total += receivedBy(move, *before, shape, scope);
    before = &move.result;
  }
  return total;
}

std::vector<Move> planReshard(const Placement &from, const Placement &target, ArrayRef<int64_t> shape, const Scope &scope) {
  std::vector<Move> moves = planByTiles(from, target, shape, scope);
  int64_t least = received(moves, from, shape, scope);
  if (least == 0)
    return moves;
  auto other = planByAxes(from, target, shape, scope);
  if (!other)
    other = joinSlices(Search{from, target, shape, scope}.run());
  return received(*other, from, shape, scope) < least ? *other : moves;
}

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardPlan.cpp - Which collectives change a placement -------------===//
// Two plans, of which the cheaper one counts. One looks at the tiles alone and takes every placement, filled up tiles and
// devices in any order included. The other knows the tiles as axes of a mesh, which it can move one by one.
#include "passes/spmd/ReshardPlan.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace millrace::spmd {
namespace {

//===-- By tiles ----------------------------------------------------------===//

/// The placement of as many tiles as `now`, on other devices, from which one exchange between two dimensions leads towards the target. None
/// where gathering brings less to every device than the devices' change of places and the exchange together, or where nothing is to be
/// exchanged.
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
  // Slicing first makes what is gathered smaller, as long as the tiles still meet: a device that slices by the axis
  // along which another dimension is still cut would not find its partners.
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
  // Other devices first, where dimensions can be exchanged then instead of gathered.
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

/// Digits of prime sizes that make up the tiles of several dimensions, such as 2, 2 and 3 of an axis of twelve devices.
struct Digits {
  const Scope &scope;
  std::vector<Tiles> digits = {};
  sharding::DimAxes axes = {}; ///< of each dimension, major to minor: numbers of digits

  bool areIndependent() const { return isUniform(to_vector(make_pointer_range(digits)), scope); }

  /// Takes `dims[0]`, of which `rest` tiles lie within what has been taken of it, and those after it. Which prime comes first
  /// decides whether another dimension has the same digits: those that agree are independent.
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

/// None where tiles are not full, where the digits of both placements are no axes of one mesh, or where the axes lead nowhere.
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
    if (step.kind != Move::Kind::Gather) {
      moves.push_back({step.kind, result, size_t(step.from), size_t(step.to)});
    } else {
      for (size_t dim = 0; dim < result.size(); ++dim)
        if (now[dim] != result[dim]) {
          now[dim] = result[dim];
          moves.push_back({step.kind, now, dim});
        }
    }
    now = result;
  }
  return moves;
}

//===-- The cheaper one ---------------------------------------------------===//

int64_t elements(const Placement &placement, ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (auto [size, tiles] : zip_equal(shape, placement))
    count *= tileSize(size, tiles);
  return count;
}

/// Elements that come to a device from others.
int64_t received(ArrayRef<Move> moves, const Placement &from, ArrayRef<int64_t> shape) {
  int64_t total = 0;
  const Placement *before = &from;
  for (const Move &move : moves) {
    int64_t had = elements(*before, shape), has = elements(move.result, shape);
    switch (move.kind) {
    case Move::Kind::Slice:
      break;
    case Move::Kind::Permute:
      total += has;
      break;
    case Move::Kind::Exchange:
      total += has - has / (move.result[move.to].count / (*before)[move.to].count);
      break;
    case Move::Kind::Gather:
      total += has - had;
      break;
    }
    before = &move.result;
  }
  return total;
}

} // namespace

std::vector<Move> planReshard(const Placement &from, const Placement &target, ArrayRef<int64_t> shape, const Scope &scope) {
  std::vector<Move> byTiles = planByTiles(from, target, shape, scope);
  auto byAxes = planByAxes(from, target, shape, scope);
  if (!byAxes)
    return byTiles;
  int64_t more = received(byTiles, from, shape), less = received(*byAxes, from, shape);
  return less < more ? *byAxes : byTiles;
}

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanTest.cpp - Who sends what to whom ------------------------------===//
#include "passes/spmd/ReshardPlan.h"
#include "passes/spmd/WindowPlan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace millrace;
using namespace millrace::spmd;
using testing::ElementsAre;
using Way = WindowPlan::Way;

namespace {

constexpr int64_t kNothing = -1;

Tiles tilesOf(int64_t devices) {
  Tiles tiles{devices, std::vector<int32_t>(devices)};
  for (int32_t device = 0; device < devices; ++device)
    tiles.of[device] = device;
  return tiles;
}

ReplicaGroups oneGroup(const Tiles &tiles) { return groupsFor({}, {&tiles}, Scope::all(tiles.of.size())); }

/// What every device has after the transfers, as positions in the dimension, which begins where its window begins.
std::vector<std::vector<int64_t>> carryOut(const WindowPlan &plan, int64_t size, const Tiles &tiles, llvm::ArrayRef<int64_t> starts,
                                           int64_t width) {
  int64_t tile = tileSize(size, tiles);
  std::vector<std::vector<int64_t>> windows(starts.size(), std::vector<int64_t>(width, kNothing));
  auto put = [&](size_t device, int64_t at, int64_t element) {
    if (at >= 0 && at < width)
      windows[device][at] = element;
  };
  for (size_t device = 0; device < starts.size(); ++device)
    for (int64_t i = 0; i < tile; ++i)
      put(device, tiles.at(device) * tile + i - starts[device], tiles.at(device) * tile + i);
  for (const Transfer &transfer : plan.transfers) {
    std::vector<bool> sends(starts.size()), gets(starts.size());
    for (const auto &pair : transfer.pairs) {
      EXPECT_FALSE(sends[pair[0]] || gets[pair[1]]);
      sends[pair[0]] = gets[pair[1]] = true;
      EXPECT_GE(transfer.froms[pair[0]], 0);
      EXPECT_LE(transfer.froms[pair[0]] + transfer.width, tile);
      for (int64_t i = 0; i < transfer.width; ++i)
        put(pair[1], transfer.places[pair[1]] + i, tiles.at(pair[0]) * tile + transfer.froms[pair[0]] + i);
    }
    for (size_t device = 0; device < starts.size(); ++device)
      EXPECT_TRUE(gets[device] || transfer.places[device] == width);
  }
  return windows;
}

TEST(Window, HaloOfNeighboursIsPieces) {
  // Three elements around each of four tiles of four.
  Tiles tiles = tilesOf(4);
  WindowPlan plan = planWindow(16, tiles, {-1, 3, 7, 11}, 6, oneGroup(tiles));
  EXPECT_EQ(plan.way, Way::Pieces);
  EXPECT_EQ(plan.received, 2);
}

TEST(Window, InsideOfForeignTilesExactlyWhatIsWanted) {
  // The middle half of 4096 in four parts, of tiles of 1024: the second device wants [2500, 3000), which the third one has.
  Tiles tiles = tilesOf(4);
  std::vector<int64_t> starts{2000, 2500, 3000, 3500};
  WindowPlan plan = planWindow(4096, tiles, starts, 500, oneGroup(tiles));
  ASSERT_EQ(plan.way, Way::Transfers);
  EXPECT_EQ(plan.received, 500 + 452);
  ASSERT_EQ(plan.transfers.size(), 2u);
  EXPECT_EQ(plan.transfers[0].width, 500);
  EXPECT_EQ(plan.transfers[0].froms[2], 2500 - 2048);
  EXPECT_EQ(plan.transfers[1].width, 452);
  auto windows = carryOut(plan, 4096, tiles, starts, 500);
  for (size_t device = 0; device < 4; ++device)
    for (int64_t i = 0; i < 500; ++i)
      ASSERT_EQ(windows[device][i], starts[device] + i);
}

TEST(Window, GathersWhereThatIsLess) {
  // Everybody wants everything but one element.
  Tiles tiles = tilesOf(4);
  EXPECT_EQ(planWindow(16, tiles, {0, 0, 0, 0}, 15, oneGroup(tiles)).way, Way::Gather);
}

// Transfers bring every element that is wanted and is there, wherever windows lie.
TEST(Window, TransfersAreComplete) {
  std::mt19937 random(5);
  int seen = 0;
  for (int round = 0; round < 4000; ++round) {
    Tiles tiles = tilesOf(2 + random() % 6);
    std::shuffle(tiles.of.begin(), tiles.of.end(), random);
    int64_t size = tiles.count + random() % 40, width = 1 + random() % 20;
    std::vector<int64_t> starts;
    for (size_t device = 0; device < tiles.of.size(); ++device)
      starts.push_back(int64_t(random() % (size + 20)) - 10);
    WindowPlan plan = planWindow(size, tiles, starts, width, oneGroup(tiles));
    if (plan.way != Way::Transfers)
      continue;
    ++seen;
    auto windows = carryOut(plan, size, tiles, starts, width);
    for (size_t device = 0; device < starts.size(); ++device)
      for (int64_t i = 0; i < width; ++i)
        if (int64_t element = starts[device] + i; element >= 0 && element < size)
          ASSERT_EQ(windows[device][i], element);
  }
  EXPECT_GT(seen, 300);
}

//===-- Reshards ----------------------------------------------------------===//

const Tiles whole, a{2, {0, 0, 1, 1}}, b{2, {0, 1, 0, 1}}, ab{4, {0, 1, 2, 3}};

std::vector<Move::Kind> kindsOf(const std::vector<Move> &moves) {
  std::vector<Move::Kind> kinds;
  for (const Move &move : moves)
    kinds.push_back(move.kind);
  return kinds;
}

TEST(Reshard, FinerUnevenTilesFetchWhatTheyLack) {
  // Tiles of 5 become tiles of 3, 3, 3 and 1: only the second device lacks an element, the one behind its five.
  Scope all = Scope::all(4);
  auto moves = planReshard({a}, {ab}, {10}, all);
  EXPECT_THAT(kindsOf(moves), ElementsAre(Move::Kind::Fetch));
  EXPECT_EQ(received(moves, {a}, {10}, all), 1);
}

TEST(Reshard, UnevenTilesMoveToAnotherDimension) {
  // 10 x 8: rows of all four devices become rows of two and columns of two. Gathering all rows first would bring 72.
  Scope all = Scope::all(4);
  auto moves = planReshard({ab, whole}, {a, b}, {10, 8}, all);
  EXPECT_LE(received(moves, {ab, whole}, {10, 8}, all), 40);
  EXPECT_EQ(moves.back().result, (Placement{a, b}));
}

TEST(Reshard, EvenTilesAreSlicedAndExchanged) {
  Scope all = Scope::all(4);
  EXPECT_THAT(kindsOf(planReshard({a}, {ab}, {8}, all)), ElementsAre(Move::Kind::Slice));
  EXPECT_THAT(kindsOf(planReshard({ab, whole}, {a, b}, {8, 8}, all)), ElementsAre(Move::Kind::Exchange));
}

// Whatever the sizes: the moves end where they should, over placements that are uniform, and bring no more than all of it.
TEST(Reshard, NeverMoreThanEverything) {
  Tiles c{2, {0, 0, 0, 0, 1, 1, 1, 1}}, d{2, {0, 0, 1, 1, 0, 0, 1, 1}}, e{2, {0, 1, 0, 1, 0, 1, 0, 1}};
  std::vector<Tiles> cuts{Tiles(), c, d, e, compose(c, d), compose(d, c), compose(c, e), compose(d, e), compose(compose(c, d), e)};
  Scope all = Scope::all(8);
  std::mt19937 random(7);
  int uneven = 0;
  for (int round = 0; round < 4000; ++round) {
    Placement from{cuts[random() % cuts.size()], cuts[random() % cuts.size()]}, target{cuts[random() % cuts.size()], cuts[random() % cuts.size()]};
    if (!isUniform(from, all) || !isUniform(target, all) || from == target)
      continue;
    std::vector<int64_t> shape{int64_t(8 + random() % 20), int64_t(8 + random() % 20)};
    int64_t everything = 1, own = 1;
    for (int dim = 0; dim < 2; ++dim) {
      uneven += !divides(from[dim], shape[dim]) || !divides(target[dim], shape[dim]);
      own *= tileSize(shape[dim], from[dim]);
      everything *= tileSize(shape[dim], from[dim]) * from[dim].count;
    }
    auto moves = planReshard(from, target, shape, all);
    Placement now = from;
    for (const Move &move : moves) {
      EXPECT_TRUE(isUniform(move.result, all));
      now = move.result;
    }
    EXPECT_EQ(now, target);
    EXPECT_LE(received(moves, from, shape, all), std::max(everything - own, own));
  }
  EXPECT_GT(uneven, 500);
}

} // namespace

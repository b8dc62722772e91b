// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/program/MemoryPlan.h"

#include <gtest/gtest.h>
#include <random>

using namespace millrace::lowering;

namespace {

void expectDisjoint(const std::vector<Lifetime> &lifetimes, const MemoryPlan &plan) {
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0u);
    EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.arenaBytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
      bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[j] || plan.offsets[j] + lifetimes[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
}

/// Cuts a full arena of `steps` x `bytes` into values: a plan without any gap exists.
std::vector<Lifetime> puzzle(uint32_t steps, uint64_t bytes, unsigned cuts, unsigned seed) {
  struct Piece {
    uint32_t first, last;
    uint64_t begin, end;
  };
  std::mt19937 random(seed);
  std::vector<Piece> pieces{{0, steps - 1, 0, bytes}};
  for (unsigned i = 0; i < cuts; ++i) {
    size_t which = random() % pieces.size();
    Piece &piece = pieces[which], other = piece;
    if (random() % 2 && piece.last > piece.first) {
      uint32_t at = piece.first + random() % (piece.last - piece.first);
      piece.last = at;
      other.first = at + 1;
    } else if (piece.end - piece.begin > 64) {
      uint64_t at = piece.begin + 64 * (1 + random() % ((piece.end - piece.begin) / 64 - 1));
      piece.end = at;
      other.begin = at;
    } else {
      continue;
    }
    pieces.push_back(other);
  }
  std::vector<Lifetime> result;
  for (const Piece &piece : pieces)
    result.push_back({piece.end - piece.begin, piece.first, piece.last});
  return result;
}

TEST(MemoryPlan, NothingNeedsNothing) {
  MemoryPlan plan = planMemory({});
  EXPECT_EQ(plan.arenaBytes, 0u);
  EXPECT_EQ(plan.lowerBound, 0u);
}

TEST(MemoryPlan, ValuesThatFollowEachOtherShare) {
  std::vector<Lifetime> lifetimes{{100, 0, 1}, {1000, 2, 3}, {500, 4, 4}};
  MemoryPlan plan = planMemory(lifetimes);
  EXPECT_EQ(plan.arenaBytes, 1024u);
  EXPECT_EQ(plan.lowerBound, 1024u);
  expectDisjoint(lifetimes, plan);
}

TEST(MemoryPlan, EmptyValuesHaveAnAddress) {
  std::vector<Lifetime> lifetimes{{0, 0, 0}, {0, 0, 0}};
  MemoryPlan plan = planMemory(lifetimes);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.arenaBytes, 128u);
}

/// By size alone it takes 1920 bytes where 1664 are alive.
TEST(MemoryPlan, FindsTheOrderThatSizeAloneMisses) {
  std::vector<Lifetime> lifetimes{{640, 0, 1}, {576, 1, 3}, {640, 2, 3}, {704, 0, 0}, {192, 3, 4}, {1152, 4, 4}};
  MemoryPlan plan = planMemory(lifetimes);
  expectDisjoint(lifetimes, plan);
  EXPECT_LE(plan.arenaBytes, plan.lowerBound * 115 / 100);
}

TEST(MemoryPlan, TheBoundCountsWhatACalleeHoldsAtOnce) {
  std::vector<Lifetime> lifetimes{{1024, 0, 0, 512}, {64, 0, 1}};
  MemoryPlan plan = planMemory(lifetimes);
  EXPECT_EQ(plan.lowerBound, 576u);
  EXPECT_EQ(plan.arenaBytes, 1088u);
}

TEST(MemoryPlan, PuzzlesWithAPerfectPlanStayNearIt) {
  double excess = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::vector<Lifetime> lifetimes = puzzle(40, 64 * 400, 10 + 4 * seed, seed);
    MemoryPlan plan = planMemory(lifetimes);
    expectDisjoint(lifetimes, plan);
    EXPECT_EQ(plan.lowerBound, 64u * 400);
    EXPECT_EQ(plan.arenaBytes, planMemory(lifetimes).arenaBytes);
    EXPECT_LE(plan.arenaBytes, plan.lowerBound * 125 / 100) << seed;
    excess += double(plan.arenaBytes) / double(plan.lowerBound) - 1;
  }
  EXPECT_LE(excess / 40, 0.03); // 0.064 by size alone
}

} // namespace

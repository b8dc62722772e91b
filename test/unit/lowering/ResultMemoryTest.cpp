// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResultMemoryTest.cpp - Temporaries in the memory of results --------===//
#include "lowering/program/ResultMemory.h"

#include <gtest/gtest.h>

#include <random>

using namespace millrace::lowering;

namespace {

/// The largest sum of bytes at any step of those lifetimes that have no place in a result.
uint64_t largestSumLeft(const std::vector<Lifetime> &lifetimes, const std::vector<std::optional<PlaceInResult>> &places) {
  std::vector<Lifetime> left;
  for (size_t i = 0; i < lifetimes.size(); ++i)
    if (!places[i])
      left.push_back(lifetimes[i]);
  return planMemory(left).lowerBound;
}

TEST(ResultMemory, HoldsWhatDiesBeforeItIsNeeded) {
  std::vector<Lifetime> lifetimes = {{1024, 0, 3}, {1024, 1, 4}, {1024, 2, 5}};
  auto places = placeInResults(lifetimes, {true, true, true}, {{2048, 5}, {1024, 4}}, 0);
  ASSERT_TRUE(places[0] && places[1]);
  EXPECT_EQ(places[0]->result, 1u) << "memory that is needed early is filled first";
  EXPECT_EQ(places[1]->result, 0u);
  EXPECT_FALSE(places[2]) << "it is read by the step that needs the result";
}

TEST(ResultMemory, StopsWhereTheRestIsSmallEnough) {
  std::vector<Lifetime> lifetimes = {{1024, 0, 3}, {2048, 0, 3}, {512, 0, 3}};
  auto places = placeInResults(lifetimes, {true, true, true}, {{1 << 20, 9}}, 1536);
  EXPECT_TRUE(places[1]);
  EXPECT_FALSE(places[0] || places[2]);
}

TEST(ResultMemory, LeavesWhatCannotMove) {
  auto places = placeInResults({{1024, 0, 3}}, {false}, {{1 << 20, 9}}, 0);
  EXPECT_FALSE(places[0]);
  EXPECT_TRUE(placeInResults({}, {}, {{64, 1}}, 0).empty());
}

TEST(ResultMemory, NothingOverlaps) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes(random() % 60 + 1);
    std::vector<bool> movable(lifetimes.size());
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      uint32_t first = random() % 50;
      lifetimes[i] = {random() % 10000 + 1, first, first + uint32_t(random() % 20)};
      movable[i] = random() % 8 != 0;
    }
    std::vector<ResultMemory> results(random() % 6 + 1);
    for (ResultMemory &result : results)
      result = {random() % 30000, uint32_t(random() % 80)};
    auto places = placeInResults(lifetimes, movable, results, 0);
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      if (!places[i])
        continue;
      const ResultMemory &result = results[places[i]->result];
      EXPECT_TRUE(movable[i]);
      EXPECT_LT(lifetimes[i].last, result.until);
      EXPECT_EQ(places[i]->offset % 64, 0u);
      EXPECT_LE(places[i]->offset + lifetimes[i].bytes, result.bytes);
      for (size_t j = 0; j < i; ++j) {
        if (!places[j] || places[j]->result != places[i]->result || lifetimes[i].first > lifetimes[j].last || lifetimes[j].first > lifetimes[i].last)
          continue;
        EXPECT_TRUE(places[i]->offset >= places[j]->offset + lifetimes[j].bytes || places[j]->offset >= places[i]->offset + lifetimes[i].bytes);
      }
    }
    EXPECT_LE(largestSumLeft(lifetimes, places), planMemory(lifetimes).lowerBound);
  }
}

} // namespace

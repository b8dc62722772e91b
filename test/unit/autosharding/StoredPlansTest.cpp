// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredPlansTest.cpp - Plans that were found before -----------------===//
#include "RandomProblem.h"
#include "passes/autosharding/StoredPlans.h"

#include <gtest/gtest.h>

#include <map>

using namespace millrace::autosharding;

namespace {

/// A store in memory that counts.
struct Memory {
  std::map<PlanStore::Key, std::string> entries;
  int found = 0, stored = 0;
  PlanStore store() {
    PlanStore made;
    made.find = [this](const PlanStore::Key &key) -> std::optional<std::string> {
      auto entry = entries.find(key);
      if (entry == entries.end())
        return std::nullopt;
      ++found;
      return entry->second;
    };
    made.store = [this](const PlanStore::Key &key, std::string_view value) {
      ++stored;
      entries[key] = std::string(value);
    };
    return made;
  }
};

Problem example(uint64_t seed = 7) { return randomProblem({.nodes = 10, .edges = 12, .limit = -1}, seed); }

/// The first problem from `seed` on that has a solution.
Problem solvable() {
  for (uint64_t seed = 1;; ++seed) {
    Problem problem = example(seed);
    if (solve(problem, {}).found)
      return problem;
  }
}

TEST(StoredPlans, AreFoundInsteadOfSolved) {
  Memory memory;
  Problem problem = solvable();
  bool isStored = true;
  Solution first = solveStored(problem, {}, memory.store(), &isStored);
  EXPECT_FALSE(isStored);
  ASSERT_TRUE(first.found);
  EXPECT_EQ(memory.stored, 1);
  Options other;
  other.threads = 4; // finds the same
  Solution second = solveStored(problem, other, memory.store(), &isStored);
  EXPECT_TRUE(isStored);
  EXPECT_EQ(memory.stored, 1);
  EXPECT_EQ(second.choices, first.choices);
  EXPECT_EQ(toString(second.cost), toString(first.cost));
  EXPECT_EQ(toString(second.bound), toString(first.bound));
  EXPECT_EQ(second.gap, first.gap);
  EXPECT_EQ(second.peak, first.peak);
}

TEST(StoredPlans, KeysTellProblemsAndOptionsApart) {
  Problem problem = solvable(), other = problem;
  other.nodes[0].costs[0] += 1;
  EXPECT_NE(planKey(problem, {}), planKey(other, {}));
  other = problem;
  other.usageLimit = 12345;
  EXPECT_NE(planKey(problem, {}), planKey(other, {}));
  // One list ends earlier and the next begins earlier: the numbers in a row are the same.
  Problem one, two;
  one.nodes = {{{1, 2}, {0, 0}, 0, 0}, {{3}, {0}, 0, 0}};
  two.nodes = {{{1}, {0}, 0, 0}, {{2, 3}, {0, 0}, 0, 0}};
  EXPECT_NE(planKey(one, {}), planKey(two, {}));
  Options longer;
  longer.iterations = 7;
  EXPECT_NE(planKey(problem, {}), planKey(problem, longer));
  EXPECT_EQ(planKey(problem, {}), planKey(solvable(), {}));
}

TEST(StoredPlans, DamagedOnesAreIgnoredAndReplaced) {
  Problem problem = solvable();
  Solution right = solve(problem, {});
  const std::string intact = writePlan(right);
  ASSERT_TRUE(readPlan(problem, intact));
  std::vector<std::string> damaged = {"", "plan 1", "plan 2" + intact.substr(6), intact.substr(0, intact.size() / 2), intact + "0 ", intact + "x"};
  // Another choice has another cost, or is impossible: what stands there no longer is the cost.
  for (size_t node = 0; node < problem.nodes.size(); ++node) {
    Solution wrong = right;
    wrong.choices[node] = uint32_t(problem.nodes[node].costs.size());
    damaged.push_back(writePlan(wrong));
  }
  Solution cheaper = right, impossible = right, smaller = right;
  cheaper.cost -= 1, cheaper.bound = 0;
  impossible.bound = impossible.cost + 1;
  smaller.peak -= 1;
  for (const Solution &wrong : {cheaper, impossible, smaller})
    damaged.push_back(writePlan(wrong));
  for (const std::string &text : damaged) {
    EXPECT_FALSE(readPlan(problem, text)) << text;
    Memory memory;
    memory.entries[planKey(problem, {})] = text;
    bool isStored = true;
    Solution again = solveStored(problem, {}, memory.store(), &isStored);
    EXPECT_FALSE(isStored);
    EXPECT_EQ(again.choices, right.choices);
    EXPECT_EQ(memory.entries[planKey(problem, {})], intact);
  }
  // The limit is not in the text: a plan for more memory than there is now is none.
  Problem tight = problem;
  tight.usageLimit = right.peak - 1;
  EXPECT_FALSE(readPlan(tight, intact));
}

TEST(StoredPlans, NothingIsKeptOfWhatHasNoSolution) {
  Problem problem;
  problem.nodes = {{{kImpossible}, {0}, 0, 0}};
  Memory memory;
  EXPECT_FALSE(solveStored(problem, {}, memory.store()).found);
  EXPECT_EQ(memory.stored, 0);
}

} // namespace

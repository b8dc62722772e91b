// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SolveTest.cpp - Solutions and bounds against trying everything -----===//
#include "RandomProblem.h"
#include "passes/autosharding/solver/Solve.h"

#include <gtest/gtest.h>

using namespace millrace::autosharding;

namespace {

Options brief(uint64_t iterations = 20) {
  Options options;
  options.iterations = iterations;
  return options;
}

/// What holds for every result, whatever the search found.
void expectSound(const Problem &problem, const Solution &solution, const Exhausted &truth, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  if (truth.cost)
    EXPECT_LE(solution.bound, *truth.cost) << toString(solution.bound);
  if (solution.found) {
    Value value = evaluate(problem, solution.choices);
    EXPECT_TRUE(value.possible);
    EXPECT_LE(value.peak, problem.usageLimit);
    EXPECT_EQ(value.peak, solution.peak);
    EXPECT_EQ(toString(value.cost), toString(solution.cost));
    EXPECT_GE(solution.cost, *truth.cost);
    if (solution.stop == Stop::Optimal)
      EXPECT_EQ(toString(solution.cost), toString(*truth.cost));
  }
  if (solution.stop == Stop::Impossible)
    EXPECT_FALSE(truth.cost);
  if (truth.leastPeak >= 0)
    EXPECT_LE(solution.needAtLeast, truth.leastPeak);
  if (!solution.found && solution.smallestNeed >= 0)
    EXPECT_GE(solution.smallestNeed, truth.leastPeak);
}

TEST(Solve, IsOptimalOnTreesWithoutLimit) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Shape shape{.nodes = 8, .tree = true, .limit = -1};
    Problem problem = randomProblem(shape, seed);
    Exhausted truth = exhaust(problem);
    Solution solution = solve(problem, brief());
    expectSound(problem, solution, truth, seed);
    ASSERT_EQ(solution.found, truth.cost.has_value()) << seed;
    EXPECT_EQ(solution.stop, truth.cost ? Stop::Optimal : Stop::Impossible) << seed;
  }
}

TEST(Solve, IsOptimalOnSmallGraphsWithoutLimit) {
  for (uint64_t seed = 100; seed < 160; ++seed) {
    Problem problem = randomProblem({.edges = 12, .limit = -1}, seed);
    Exhausted truth = exhaust(problem);
    Solution solution = solve(problem, brief());
    expectSound(problem, solution, truth, seed);
    ASSERT_EQ(solution.found, truth.cost.has_value()) << seed;
    if (truth.cost)
      EXPECT_EQ(toString(solution.cost), toString(*truth.cost)) << seed;
  }
}

TEST(Solve, IsOptimalWithinTheLimit) {
  int solved = 0;
  for (double limit : {0.15, 0.4, 0.8})
    for (uint64_t seed = 200; seed < 250; ++seed) {
      Problem problem = randomProblem({.edges = 10, .impossible = 0.05, .limit = limit}, seed);
      Exhausted truth = exhaust(problem);
      Solution solution = solve(problem, brief(60));
      expectSound(problem, solution, truth, seed);
      EXPECT_EQ(solution.found, truth.cost.has_value()) << seed;
      if (truth.cost && solution.found) {
        ++solved;
        EXPECT_EQ(toString(solution.cost), toString(*truth.cost)) << seed << " " << limit;
      }
    }
  EXPECT_GT(solved, 100);
}

TEST(Solve, IsOptimalOnTreesWithinTheLimit) {
  for (uint64_t seed = 300; seed < 360; ++seed) {
    Problem problem = randomProblem({.tree = true, .impossible = 0, .limit = 0.3}, seed);
    Exhausted truth = exhaust(problem);
    Solution solution = solve(problem, brief(60));
    expectSound(problem, solution, truth, seed);
    ASSERT_EQ(solution.found, truth.cost.has_value()) << seed;
    if (truth.cost)
      EXPECT_EQ(toString(solution.cost), toString(*truth.cost)) << seed;
  }
}

TEST(Solve, IsTheSameOnAnyNumberOfThreads) {
  Problem problem = randomProblem({.nodes = 150, .mostChoices = 8, .edges = 300, .impossible = 0.02, .limit = 0.3}, 7);
  Options options = brief(6);
  options.searches = 3;
  Solution first = solve(problem, options);
  ASSERT_TRUE(first.found);
  for (uint32_t threads : {2, 4}) {
    options.threads = threads;
    Solution other = solve(problem, options);
    EXPECT_EQ(first.choices, other.choices) << threads;
    EXPECT_EQ(toString(first.bound), toString(other.bound)) << threads;
  }
}

TEST(Solve, ParallelEdgesAddUp) {
  Problem problem;
  problem.nodes = {{{0, 0}, {0, 0}, 0, 1}, {{0, 0, 0}, {0, 0, 0}, 0, 1}};
  problem.edges = {{0, 1, {5, 9, 9, 9, 4, 9}}, {1, 0, {5, 9, 9, 9, 9, 2}}}; // the second one has b's choices as columns: node 0's
  Exhausted truth = exhaust(problem);
  Solution solution = solve(problem, brief());
  ASSERT_TRUE(solution.found);
  EXPECT_EQ(toString(*truth.cost), "10");
  EXPECT_EQ(toString(solution.cost), "10");
  EXPECT_EQ(solution.stop, Stop::Optimal);
}

TEST(Solve, BytesAreFreedBeforeOthersAreNeededAtTheSameTime) {
  Problem problem;
  problem.nodes = {{{1, 9}, {60, 1}, 0, 5}, {{1, 9}, {60, 1}, 5, 9}, {{1}, {100}, 7, 7}}; // the last one never lives
  problem.usageLimit = 60;
  Solution solution = solve(problem, brief());
  ASSERT_TRUE(solution.found);
  EXPECT_EQ(toString(solution.cost), "3");
  EXPECT_EQ(solution.peak, 60);
}

TEST(Solve, SaysWhatALimitThatIsTooSmallWouldHaveToBe) {
  Problem problem;
  problem.nodes = {{{1, 9}, {60, 40}, 0, 5}, {{1, 9}, {60, 45}, 2, 9}};
  problem.usageLimit = 50;
  Solution solution = solve(problem, brief());
  EXPECT_FALSE(solution.found);
  EXPECT_EQ(solution.stop, Stop::Impossible);
  EXPECT_EQ(solution.needAtLeast, 85);
  EXPECT_EQ(solution.smallestNeed, 85);
  EXPECT_NE(solution.message.find("need 85 bytes, but the limit is 50"), std::string::npos) << solution.message;
}

TEST(Solve, NeedCountsOnlyPossiblePairs) {
  // Least usages together are impossible: what can be had is 70, and a limit of 65 is proved to be too small.
  Problem problem;
  problem.nodes = {{{1, 1}, {10, 60}, 0, 5}, {{1, 1}, {10, 60}, 0, 5}};
  problem.edges = {{0, 1, {kImpossible, 1, 1, 1}}};
  problem.usageLimit = 65;
  Solution solution = solve(problem, brief());
  EXPECT_FALSE(solution.found);
  EXPECT_GE(solution.needAtLeast, 66);
  EXPECT_LE(solution.needAtLeast, 70);
  EXPECT_EQ(solution.smallestNeed, 70);
    EXPECT_NE(solution.message.find("need 70 bytes were found"), std::string::npos) << solution.message;
}

TEST(Solve, ImpossiblePairsEverywhereAreProvedToHaveNoSolution) {
  Problem problem;
  problem.nodes = {{{1, 2}, {0, 0}, 0, 1}, {{1}, {0}, 0, 1}};
  problem.edges = {{0, 1, {kImpossible, kImpossible}}};
  Solution solution = solve(problem, brief());
  EXPECT_FALSE(solution.found);
  EXPECT_EQ(solution.stop, Stop::Impossible);
  EXPECT_NE(solution.message.find("no possible choice"), std::string::npos) << solution.message;
}

TEST(Solve, CostsNearTheLargestDoNotOverflow) {
  int64_t large = kImpossible - 1;
  Problem problem;
  for (int node = 0; node < 40; ++node) {
    problem.nodes.push_back({{large, large}, {1, 2}, node, node + 2});
    if (node)
      problem.edges.push_back({uint32_t(node - 1), uint32_t(node), {large, kImpossible, kImpossible, large}});
  }
  problem.usageLimit = 2;
  Solution solution = solve(problem, brief(3));
  ASSERT_TRUE(solution.found);
  EXPECT_EQ(toString(solution.cost), toString(Total(large) * 79)); // 8 times what fits 64 bits
  EXPECT_LE(solution.bound, solution.cost);
  EXPECT_EQ(solution.peak, 2);
}

// In double the possible pairs cost as much as the impossible ones.
TEST(Solve, CostsNearTheLargestArePossible) {
  Problem problem;
  problem.nodes = {{{0, 10}, {0, 0}, 0, 1}, {{10, 0}, {0, 0}, 0, 1}};
  problem.edges = {{0, 1, {kImpossible - 1, kImpossible, kImpossible, kImpossible - 1}}};
  Solution solution = solve(problem, brief(3));
  ASSERT_TRUE(solution.found);
  EXPECT_TRUE(evaluate(problem, solution.choices).possible);
  EXPECT_EQ(toString(solution.cost), toString(Total(kImpossible) + 9));
  EXPECT_LE(solution.bound, solution.cost);
}

TEST(Solve, BoundsHoldWhereCostsHave50Bits) {
  for (uint64_t seed = 400; seed < 430; ++seed) {
    Problem problem = randomProblem({.edges = 12, .limit = 0.3, .mostCost = int64_t(1) << 50}, seed);
    Exhausted truth = exhaust(problem);
    expectSound(problem, solve(problem, brief(10)), truth, seed);
  }
}

TEST(Solve, NothingToChoose) {
  Problem problem;
  problem.usageLimit = 10;
  Solution solution = solve(problem, brief());
  EXPECT_TRUE(solution.found);
  EXPECT_EQ(toString(solution.cost), "0");
  EXPECT_EQ(solution.gap, 0);
  problem.nodes = {{{7}, {10}, 0, 1}};
  solution = solve(problem, brief());
  EXPECT_TRUE(solution.found);
  EXPECT_EQ(toString(solution.cost), "7");
  EXPECT_EQ(solution.stop, Stop::Optimal);
}

TEST(Solve, TellsItsProgress) {
  Options options = brief(5);
  Problem problem = randomProblem({.nodes = 60, .mostChoices = 8, .edges = 120, .impossible = 0, .limit = 0.2}, 5);
  uint64_t calls = 0;
  options.progress = [&](const Progress &progress) { EXPECT_EQ(progress.iteration, calls++); };
  Solution solution = solve(problem, options);
  EXPECT_EQ(calls, solution.iterations);
  EXPECT_GT(calls, 0u);
}

TEST(Solve, EndsWhenTheTimeIsUp) {
  Options options;
  options.seconds = 0.2;
  Solution solution = solve(randomProblem({.nodes = 200, .mostChoices = 8, .edges = 500, .impossible = 0, .limit = 0.2}, 6), options);
  EXPECT_EQ(solution.stop, Stop::Seconds);
  EXPECT_GE(solution.seconds, 0.2);
  EXPECT_LT(solution.seconds, 20); // a loaded machine included
}

TEST(Solve, EndsWhenItIsEnough) {
  int asked = 0;
  Options options;
  options.enough = [&] { return ++asked > 3; };
  Solution solution = solve(randomProblem({.nodes = 200, .mostChoices = 8, .edges = 500, .impossible = 0, .limit = 0.2}, 6), options);
  EXPECT_EQ(solution.stop, Stop::Seconds);
  EXPECT_EQ(solution.iterations, 3u);
}

} // namespace

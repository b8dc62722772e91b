// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartsTest.cpp - What the solver is made of -------------------------===//
#include "RandomProblem.h"
#include "passes/autosharding/solver/Dual.h"
#include "passes/autosharding/solver/State.h"
#include "passes/autosharding/solver/Timeline.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace millrace::autosharding;

namespace {

TEST(LoadTree, AgreesWithAnArray) {
  Random random(3);
  for (uint32_t count : {1u, 2u, 7u, 64u, 100u}) {
    std::vector<int64_t> loads(count);
    for (int64_t &load : loads)
      load = random.below(100);
    LoadTree tree(loads);
    for (int step = 0; step < 300; ++step) {
      uint32_t begin = random.below(count), end = begin + random.below(count - begin + 1);
      int64_t bytes = int64_t(random.below(100)) - 50;
      tree.add(begin, end, bytes);
      for (uint32_t time = begin; time < end; ++time)
        loads[time] += bytes;
      ASSERT_EQ(tree.most(), *std::max_element(loads.begin(), loads.end()));
      uint32_t from = random.below(count), to = from + 1 + random.below(count - from);
      ASSERT_EQ(tree.most(from, to), *std::max_element(loads.begin() + from, loads.begin() + to)) << from << " " << to << " of " << count;
      ASSERT_EQ(loads[tree.fullest()], tree.most());
    }
    EXPECT_EQ(tree.loads(), loads);
  }
}

TEST(Timeline, KeepsMaximalTimesOnly) {
  Problem problem;
  for (auto [begin, end] : {std::pair{0, 10}, {2, 4}, {3, 6}, {4, 5}, {6, 6}, {7, 9}})
    problem.nodes.push_back({{1}, {1}, begin, end});
  // Live together: {0,1,2} at 3, {0,2,3} at 4, {0,5} at 7; what is live at 0, 2, 5 and 6 is a part of these.
  Timeline timeline = maximalTimes(problem, std::vector<bool>(6, true));
  EXPECT_EQ(timeline.count, 3u);
  using Span = std::pair<uint32_t, uint32_t>;
  EXPECT_EQ(timeline.spans, (std::vector<Span>{{0, 3}, {0, 1}, {0, 2}, {1, 2}, {0, 0}, {2, 3}}));
}

TEST(State, FollowsChangesAndTakesThemBack) {
  Problem problem = randomProblem({.nodes = 12, .edges = 30, .impossible = 0.1, .limit = 0.5}, 11);
  Model model;
  ASSERT_EQ(buildModel(problem, model).message, "");
  State state(model, std::vector<uint32_t>(model.size(), 0));
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint32_t> before = state.choices();
    double cost = state.cost();
    int64_t excess = state.excess();
    for (int step = 0; step < 5; ++step) {
      uint32_t node = random.below(model.size());
      state.change(node, random.below(model.choices(node)));
    }
    State fresh(model, state.choices());
    ASSERT_DOUBLE_EQ(fresh.cost(), state.cost());
    ASSERT_EQ(fresh.excess(), state.excess());
    if (state.possible()) {
      Value value = evaluate(problem, originalChoices(model, state.choices()));
      ASSERT_EQ(Total(state.cost()), value.cost);
      ASSERT_EQ(state.fits(), value.peak <= problem.usageLimit);
    }
    if (round % 2) {
      state.keep();
      continue;
    }
    state.undo(0);
    ASSERT_EQ(state.choices(), before);
    ASSERT_DOUBLE_EQ(state.cost(), cost);
    ASSERT_EQ(state.excess(), excess);
  }
}

TEST(Reduction, KeepsABestSolution) {
  uint64_t removed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem({.nodes = 6, .edges = 8, .impossible = 0.3, .limit = 0.2}, seed);
    Exhausted truth = exhaust(problem);
    Model model;
    Obstacle obstacle = buildModel(problem, model);
    if (!obstacle.message.empty()) {
      EXPECT_FALSE(truth.cost) << seed << obstacle.message;
      continue;
    }
    removed += model.removed;
    Problem smaller = problem; // the choices that are gone are made impossible
    for (uint32_t node = 0; node < model.size(); ++node)
      for (uint32_t choice = 0; choice < problem.nodes[node].costs.size(); ++choice)
        if (std::find(model.original.begin() + model.first[node], model.original.begin() + model.first[node + 1], choice) ==
            model.original.begin() + model.first[node + 1])
          smaller.nodes[node].costs[choice] = kImpossible;
    Exhausted rest = exhaust(smaller);
    ASSERT_EQ(rest.cost.has_value(), truth.cost.has_value()) << seed;
    if (truth.cost)
      EXPECT_EQ(toString(*rest.cost), toString(*truth.cost)) << seed;
  }
  EXPECT_GT(removed, 500u);
}

// The proof in LowerBound.h, for prices and messages of every quality, and for costs whose sums exceed what a double holds exactly.
void expectBoundsToHold(int64_t mostCost) {
  int close = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Problem problem = randomProblem({.nodes = 7, .edges = 11, .impossible = 0.1, .limit = 0.3, .mostCost = mostCost}, seed);
    Exhausted truth = exhaust(problem);
    Model model;
    if (!buildModel(problem, model).message.empty() || !truth.cost)
      continue;
    Forest forest(model);
    Random random(seed);
    for (double height : {0.0, 0.5, 20.0, 1e7}) {
      Prices prices(model);
      for (double &price : prices.perByte)
        price = random.unit() * height;
      MessagePassing messages(model);
      messages.reset(forest.core);
      std::vector<double> priced;
      prices.apply(model, random.unit() * 2, priced); // messages for other prices than the bound's
      FoldedForest folded;
      foldForest(model, forest, priced, folded);
      for (uint32_t pass = 0; pass < 3; ++pass) {
        std::optional<Total> bound = proveBound(model, forest, messages, prices);
        ASSERT_TRUE(bound) << seed;
        EXPECT_LE(*bound, *truth.cost) << seed << " " << toString(*bound);
        messages.iterate(folded.cost);
      }
    }
    Dual dual(model, forest, seed);
    dual.run(100000, double(*truth.cost));
    dual.prove();
    ASSERT_TRUE(dual.proved());
    EXPECT_LE(*dual.proved(), *truth.cost) << seed;
    close += double(*dual.proved()) >= 0.9 * double(*truth.cost);
  }
  EXPECT_GT(close, 75); // the bound is no formality
}

TEST(LowerBound, HoldsForAnyPricesAndMessages) { expectBoundsToHold(1000); }
TEST(LowerBound, HoldsWhereCostsAreRounded) {
  expectBoundsToHold(int64_t(1) << 50);
  expectBoundsToHold(kImpossible / 2);
}

} // namespace

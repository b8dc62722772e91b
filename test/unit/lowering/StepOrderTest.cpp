// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/program/StepOrder.h"

#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

using namespace millrace::lowering;

namespace {

using Order = std::vector<uint32_t>;

/// Steps that each make one buffer of the given size and read those of the given steps.
struct Builder {
  StepGraph graph;
  uint32_t step(uint64_t bytes, std::vector<uint32_t> reads = {}, bool isKept = false) {
    uint32_t index = graph.steps.size();
    StepGraph::Step step;
    step.after = reads;
    for (uint32_t read : reads)
      step.touches.push_back(read);
    step.touches.push_back(index);
    graph.steps.push_back(std::move(step));
    graph.buffers.push_back({bytes, isKept, {}});
    return index;
  }
};

bool isPossible(const StepGraph &graph, const Order &order) {
  std::vector<bool> isDone(graph.steps.size());
  for (uint32_t step : order) {
    if (isDone[step])
      return false;
    for (uint32_t first : graph.steps[step].after)
      if (!isDone[first])
        return false;
    isDone[step] = true;
  }
  return order.size() == graph.steps.size();
}

/// What holds for every result.
StepOrder ordered(const StepGraph &graph) {
  StepOrder result = orderSteps(graph);
  EXPECT_TRUE(isPossible(graph, result.order));
  Order given(graph.steps.size());
  std::iota(given.begin(), given.end(), 0);
  EXPECT_EQ(result.given.peak, memoryOf(graph, given).peak);
  EXPECT_EQ(result.use.peak, memoryOf(graph, result.order).peak);
  EXPECT_LE(result.use.peak, result.given.peak);
  EXPECT_EQ(result.least, leastPeak(graph));
  EXPECT_LE(result.least, result.use.peak);
  return result;
}

/// The smallest peak of all orders.
uint64_t bestPeak(const StepGraph &graph) {
  Order order;
  uint64_t best = UINT64_MAX;
  std::vector<bool> isDone(graph.steps.size());
  auto extend = [&](auto &self) -> void {
    if (order.size() == graph.steps.size()) {
      best = std::min(best, memoryOf(graph, order).peak);
      return;
    }
    for (uint32_t step = 0; step < graph.steps.size(); ++step) {
      bool isReady = !isDone[step];
      for (uint32_t first : graph.steps[step].after)
        isReady = isReady && isDone[first];
      if (!isReady)
        continue;
      isDone[step] = true;
      order.push_back(step);
      self(self);
      order.pop_back();
      isDone[step] = false;
    }
  };
  extend(extend);
  return best;
}

StepGraph randomGraph(std::mt19937 &random, uint32_t size, bool isPlain) {
  Builder builder;
  for (uint32_t i = 0; i < size; ++i) {
    Order reads;
    for (uint32_t j = 0; j < i; ++j)
      if (random() % i < 2)
        reads.push_back(j);
    builder.step(random() % 100, reads, random() % 5 == 0);
    if (isPlain)
      continue;
    StepGraph::Step &step = builder.graph.steps.back();
    step.extra = random() % 4 ? 0 : random() % 100;
    if (!reads.empty() && random() % 3 == 0)
      step.inPlace.push_back({reads[random() % reads.size()], i});
  }
  // Some take the place of an argument, which a few steps read, before or behind the one that makes them.
  for (uint32_t i = 0; i < size && !isPlain; ++i)
    if (random() % 4 == 0)
      for (uint32_t j = 0; j < size; ++j)
        if (random() % size < 2)
          builder.graph.buffers[i].readersOfReplaced.push_back(j);
  return builder.graph;
}

TEST(StepOrder, NothingNeedsNothing) {
  StepOrder result = ordered({});
  EXPECT_TRUE(result.order.empty());
  EXPECT_EQ(result.use.peak, 0u);
}

TEST(StepOrder, CountsABufferFromTheFirstTouchToTheLast) {
  Builder builder;
  uint32_t a = builder.step(10), b = builder.step(20, {a}), c = builder.step(5, {b});
  EXPECT_EQ(memoryOf(builder.graph, {a, b, c}).peak, 30u);
  builder.graph.buffers[a].isKept = true;
  EXPECT_EQ(memoryOf(builder.graph, {a, b, c}).peak, 35u);
  EXPECT_EQ((uint64_t)memoryOf(builder.graph, {a, b, c}).sum, 10u + 30u + 35u);
  builder.graph.steps[a].extra = 100;
  EXPECT_EQ(memoryOf(builder.graph, {a, b, c}).peak, 110u);
}

TEST(StepOrder, BeginsInPlaceOnlyBehindTheLastReader) {
  Builder builder;
  uint32_t a = builder.step(10), b = builder.step(10, {a}), c = builder.step(1, {a});
  builder.graph.steps[b].inPlace = {{a, b}};
  EXPECT_EQ(memoryOf(builder.graph, {a, c, b}).peak, 11u);
  EXPECT_EQ(memoryOf(builder.graph, {a, b, c}).peak, 20u);
}

/// The largest sum of the bytes whose lives livesOf() gives, and of the steps' extra bytes.
uint64_t peakOfLives(const StepGraph &graph) {
  std::vector<uint64_t> live(graph.steps.size());
  for (uint32_t step = 0; step < live.size(); ++step)
    live[step] = graph.steps[step].extra;
  std::vector<BufferLife> lives = livesOf(graph);
  for (uint32_t buffer = 0; buffer < lives.size(); ++buffer)
    for (uint32_t step = lives[buffer].begin; step < lives[buffer].end; ++step)
      live[step] += graph.buffers[buffer].bytes;
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

TEST(StepOrder, LivesAddUpToThePeak) {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 300; ++i) {
    StepGraph graph = randomGraph(random, 1 + random() % 40, false);
    for (StepGraph::Step &step : graph.steps)
      step.inPlace.clear();
    Order given(graph.steps.size());
    std::iota(given.begin(), given.end(), 0);
    EXPECT_EQ(peakOfLives(graph), memoryOf(graph, given).peak) << i;
  }
}

TEST(StepOrder, LivesInPlaceBeginBehindTheOneThatTheyTake) {
  Builder builder;
  uint32_t a = builder.step(10), b = builder.step(10, {a}), c = builder.step(1, {b});
  builder.graph.steps[b].inPlace = {{a, b}};
  EXPECT_EQ(peakOfLives(builder.graph), 11u);
  EXPECT_EQ(peakOfLives(builder.graph), memoryOf(builder.graph, {a, b, c}).peak);
  builder.graph.buffers[a].isKept = true;
  EXPECT_EQ(peakOfLives(builder.graph), 21u);
  EXPECT_EQ(peakOfLives(builder.graph), memoryOf(builder.graph, {a, b, c}).peak);
}

TEST(StepOrder, WhatReplacesAnArgumentWaitsForItsReaders) {
  Builder builder;
  uint32_t update = builder.step(100), forward = builder.step(1), loss = builder.step(1, {forward});
  builder.graph.buffers[update].readersOfReplaced = {update, forward};
  EXPECT_EQ(memoryOf(builder.graph, {update, forward, loss}).peak, 102u);
  EXPECT_EQ(memoryOf(builder.graph, {forward, update, loss}).peak, 2u);
  StepOrder result = ordered(builder.graph);
  EXPECT_EQ(result.use.peak, 2u);
  // A reader that needs the new value: the new value is kept elsewhere until the end, whatever the order.
  builder.graph.steps[forward].after = {update};
  EXPECT_EQ(ordered(builder.graph).use.peak, 102u);
}

/// A training step as autodiff writes it: forwards, backwards, and only then all weights: every layer's activations and gradients live on.
/// `isCheckpointed`: activations between every `kSegment` layers are kept, the others are computed again.
struct Training {
  static constexpr uint32_t kSegment = 4;
  StepGraph graph;
  Training(uint32_t layers, bool isCheckpointed) {
    Builder builder;
    const uint64_t activation = 1000, weight = 100;
    Order forward{builder.step(activation)};
    for (uint32_t i = 1; i <= layers; ++i)
      forward.push_back(builder.step(activation, {forward.back()}));
    uint32_t gradient = builder.step(activation, {forward.back()});
    std::vector<std::pair<uint32_t, uint32_t>> pairs; // what a weight's gradient is computed of
    std::vector<uint32_t> lastReader;                 // of each weight
    Order again(layers + 1);
    for (uint32_t i = layers; i > 0; --i) {
      if (isCheckpointed && (i % kSegment == 0 || i == layers))
        for (uint32_t k = i - (i - 1) % kSegment; k < i; ++k) {
          uint32_t before = (k - 1) % kSegment == 0 ? forward[k - 1] : again[k - 1];
          again[k] = builder.step(activation, {before});
          builder.graph.steps.back().after.push_back(gradient); // the barrier
        }
      uint32_t input = !isCheckpointed || (i - 1) % kSegment == 0 ? forward[i - 1] : again[i - 1];
      pairs.push_back({input, gradient});
      gradient = builder.step(activation, {gradient, input});
      lastReader.push_back(gradient);
    }
    for (uint32_t i = 0; i < layers; ++i) {
      uint32_t updated = builder.step(weight, {pairs[i].first, pairs[i].second});
      builder.graph.buffers[updated].readersOfReplaced = {lastReader[i], updated};
    }
    graph = builder.graph;
  }
};

TEST(StepOrder, UpdatesWeightsAsSoonAsTheirGradientsAreThere) {
  Training plain(48, false);
  StepOrder result = ordered(plain.graph);
  EXPECT_GE(result.given.peak, 96000u); // activations and gradients of all layers
  EXPECT_EQ(result.use.peak, leastPeak(plain.graph));
  EXPECT_LE(result.use.peak, 52000u);
}

TEST(StepOrder, LetsCheckpointsSaveMemory) {
  Training checkpointed(48, true);
  StepOrder result = ordered(checkpointed.graph);
  EXPECT_GE(result.given.peak, 90000u);
  EXPECT_LE(result.use.peak, 20000u); // 12 checkpoints and what one segment needs
  EXPECT_EQ(result.use.peak, leastPeak(checkpointed.graph));
}

TEST(StepOrder, StaysAsItIsWhereNothingIsGained) {
  Builder builder; // a chain, and something that could as well come first
  uint32_t a = builder.step(8), b = builder.step(8, {a});
  builder.step(8, {b}, true);
  builder.step(0);
  EXPECT_EQ(ordered(builder.graph).order, (Order{0, 1, 2, 3}));
}

/// All orders of small graphs are tried; 8 steps have up to 40320.
TEST(StepOrder, IsNearTheBestOfAllOrders) {
  std::mt19937 random(1);
  unsigned best = 0, count = 0;
  double ratio = 0;
  for (unsigned i = 0; i < 400; ++i) {
    StepGraph graph = randomGraph(random, 4 + random() % 5, i % 2);
    uint64_t least = bestPeak(graph), found = ordered(graph).use.peak;
    EXPECT_LE(leastPeak(graph), least) << i;
    EXPECT_GE(found, least) << i;
    best += found == least;
    ++count;
    ratio += least ? double(found) / least : 1;
  }
  EXPECT_GE(best, count * 95 / 100);
  EXPECT_LE(ratio / count, 1.01);
}

TEST(StepOrder, LargeRandomGraphsKeepWhatHolds) {
  std::mt19937 random(2);
  for (unsigned i = 0; i < 20; ++i)
    ordered(randomGraph(random, 100 + random() % 100, i % 2));
}

TEST(StepOrder, StepsMayMakeSeveralBuffers) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    StepGraph graph = randomGraph(random, 2 + random() % 30, false);
    for (StepGraph::Step &step : graph.steps)
      for (uint32_t extra = random() % 3; extra > 0; --extra) {
        step.touches.push_back(graph.buffers.size());
        graph.buffers.push_back({random() % 100, random() % 5 == 0, {}});
      }
    ordered(graph);
  }
}

TEST(StepOrder, TakesTimeInProportion) {
  auto seconds = [](uint32_t layers) {
    Training training(layers, true);
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int turn = 0; turn < 3; ++turn) { // the processor's time, the least of three: others run beside, and in the same caches
      std::clock_t begin = std::clock();
      orderSteps(training.graph);
      least = std::min(least, std::clock() - begin);
    }
    return double(least) / CLOCKS_PER_SEC;
  };
  // 8252 steps and 33002, more than leastPeak compares with all others, so that nothing ends the search early. Quadratic, it were 16 times.
  double once = seconds(2200), fourTimes = seconds(8800);
  EXPECT_LE(fourTimes, 8 * once);
}

} // namespace

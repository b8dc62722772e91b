// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomProblem.h - Small problems, and their best solutions ---------===//
#pragma once

#include "passes/autosharding/solver/Problem.h"
#include "passes/autosharding/solver/Random.h"

#include <optional>

namespace millrace::autosharding {

struct Shape {
  uint32_t nodes = 7, mostChoices = 4, edges = 9;
  bool tree = false;          ///< edges join each node to an earlier one, instead of any two
  double impossible = 0.1;    ///< share of pairs
  double limit = 0;           ///< between the least (0) and the largest (1) peak; below 0: no limit
  int64_t mostCost = 1000;
};

inline Problem randomProblem(const Shape &shape, uint64_t seed) {
  Random random(seed);
  Problem problem;
  for (uint32_t index = 0; index < shape.nodes; ++index) {
    Node node;
    for (uint32_t choice = 0, count = 1 + random.below(shape.mostChoices); choice < count; ++choice) {
      node.costs.push_back(int64_t(random.unit() * double(shape.mostCost)));
      node.usages.push_back(random.below(100));
    }
    node.begin = random.below(10);
    node.end = node.begin + random.below(8);
    problem.nodes.push_back(node);
  }
  for (uint32_t index = 0; index < (shape.tree ? shape.nodes - 1 : shape.edges); ++index) {
    Edge edge;
    edge.a = shape.tree ? index + 1 : random.below(shape.nodes);
    edge.b = shape.tree ? random.below(index + 1) : random.below(shape.nodes);
    if (edge.a == edge.b)
      continue;
    size_t size = problem.nodes[edge.a].costs.size() * problem.nodes[edge.b].costs.size();
    for (size_t at = 0; at < size; ++at)
      edge.costs.push_back(random.unit() < shape.impossible ? kImpossible : int64_t(random.unit() * double(shape.mostCost)));
    problem.edges.push_back(edge);
  }
  if (shape.limit >= 0) {
    std::vector<uint32_t> least, most;
    for (const Node &node : problem.nodes) {
      uint32_t low = 0, high = 0;
      for (uint32_t choice = 0; choice < node.usages.size(); ++choice) {
        low = node.usages[choice] < node.usages[low] ? choice : low;
        high = node.usages[choice] > node.usages[high] ? choice : high;
      }
      least.push_back(low);
      most.push_back(high);
    }
    int64_t low = evaluate(problem, least).peak, high = evaluate(problem, most).peak;
    problem.usageLimit = low + int64_t(shape.limit * double(high - low));
  }
  return problem;
}

struct Exhausted {
  std::optional<Total> cost; ///< of the best solution within the limit
  int64_t leastPeak = -1;    ///< of all possible choices
};

/// Tries all choices.
inline Exhausted exhaust(const Problem &problem) {
  Exhausted result;
  std::vector<uint32_t> choices(problem.nodes.size(), 0);
  while (true) {
    Value value = evaluate(problem, choices);
    if (value.possible) {
      if (result.leastPeak < 0 || value.peak < result.leastPeak)
        result.leastPeak = value.peak;
      if (value.peak <= problem.usageLimit && (!result.cost || value.cost < *result.cost))
        result.cost = value.cost;
    }
    size_t node = 0;
    while (node < choices.size() && ++choices[node] == problem.nodes[node].costs.size())
      choices[node++] = 0;
    if (node == choices.size())
      return result;
  }
}

} // namespace millrace::autosharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Reduction.h"

#include <algorithm>
#include <unordered_set>

using namespace millrace::autosharding;

namespace {

/// The largest number of costs that the search for dominated choices reads. The search matters at nodes with few neighbours (most of the contest's
/// have one); a hub with thousands of neighbours has no dominated choices in practice and would take seconds. Unit: edge costs per node. Source:
/// found by trial on the ten problems of the ASPLOS 2025 contest.
constexpr uint64_t kMostDominanceWork = 200'000;

class Reducer {
public:
  Reducer(const Problem &problem, const MergedEdges &merged) : problem(problem), merged(merged) {
    for (const Node &node : problem.nodes)
      result.keeps.emplace_back(node.costs.size(), true);
    left.resize(problem.nodes.size());
    for (size_t index = 0; index < left.size(); ++index)
      left[index] = uint32_t(problem.nodes[index].costs.size());
  }

  Reduction run() {
    for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
      for (uint32_t choice = 0; choice < choices(node); ++choice)
        if (problem.nodes[node].costs[choice] >= kImpossible)
          remove(node, choice);
      touch(node);
    }
    if (!spread() || !fit())
      return std::move(result);
    for (uint32_t node = 0; node < problem.nodes.size(); ++node)
      dominate(node);
    return std::move(result);
  }

private:
  uint32_t choices(uint32_t node) const { return uint32_t(problem.nodes[node].costs.size()); }

  void remove(uint32_t node, uint32_t choice) {
    result.keeps[node][choice] = false;
    ++result.removed;
    --left[node];
  }

  void touch(uint32_t node) {
    if (waits.size() < problem.nodes.size())
      waits.resize(problem.nodes.size());
    if (!waits[node])
      waits[node] = true, queue.push_back(node);
  }

  /// Removes choices without a possible partner until nothing changes; returns false if a node has none left.
  bool spread() {
    while (!queue.empty()) {
      uint32_t node = queue.back();
      queue.pop_back();
      waits[node] = false;
      if (!left[node]) {
        result.obstacle.node = node;
        result.obstacle.message = "node " + std::to_string(node) + " has no possible choice beside what its neighbours can choose";
        return false;
      }
      for (const MergedEdges::End &end : merged.ends[node])
        support(node, end);
    }
    return true;
  }

  /// Removes the neighbour's choices that are impossible with every remaining choice of `node`.
  void support(uint32_t node, const MergedEdges::End &end) {
    uint32_t owns = choices(node), others = choices(end.node);
    bool changed = false;
    for (uint32_t other = 0; other < others; ++other) {
      if (!result.keeps[end.node][other])
        continue;
      bool found = false;
      for (uint32_t own = 0; own < owns && !found; ++own)
        found = result.keeps[node][own] && merged.cost(end, own, other, owns, others) < kImpossible;
      if (!found)
        remove(end.node, other), changed = true;
    }
    if (changed)
      touch(end.node);
  }

  int64_t leastUsage(uint32_t node) const {
    int64_t least = kMostUsage;
    for (uint32_t choice = 0; choice < choices(node); ++choice)
      if (result.keeps[node][choice])
        least = std::min(least, problem.nodes[node].usages[choice]);
    return least;
  }

  /// Removes choices that exceed the limit together with the least usages of all others, and choices that become impossible by that.
  bool fit() {
    Timeline timeline = maximalTimes(problem, std::vector<bool>(problem.nodes.size(), true));
    if (!timeline.count || problem.usageLimit == kNoLimit)
      return true;
    for (bool changed = true; changed;) {
      changed = false;
      LoadTree load(std::vector<int64_t>(timeline.count, 0));
      for (uint32_t node = 0; node < problem.nodes.size(); ++node)
        load.add(timeline.spans[node].first, timeline.spans[node].second, leastUsage(node));
      if (load.most() > problem.usageLimit) {
        result.obstacle.message = "the least usages of all nodes need " + std::to_string(load.most()) + " bytes, but the limit is " +
                                  std::to_string(problem.usageLimit);
        result.obstacle.least = load.most();
        return false;
      }
      for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
        auto [begin, end] = timeline.spans[node];
        if (begin >= end)
          continue;
        int64_t room = problem.usageLimit - load.most(begin, end) + leastUsage(node);
        for (uint32_t choice = 0; choice < choices(node); ++choice)
          if (result.keeps[node][choice] && problem.nodes[node].usages[choice] > room)
            remove(node, choice), touch(node), changed = true;
      }
      if (!spread())
        return blame(), false;
    }
    return true;
  }

  /// Records that the choices which no neighbour allows were possible before the limit was applied, so that a larger limit could have a solution.
  void blame() {
    result.obstacle.message += ", within the limit of " + std::to_string(problem.usageLimit) + " bytes";
    result.obstacle.least = problem.usageLimit + 1;
  }

  /// Returns true if `better` can replace `worse` in every solution.
  bool dominates(uint32_t node, uint32_t better, uint32_t worse) const {
    const Node &data = problem.nodes[node];
    if (data.begin < data.end && data.usages[better] > data.usages[worse])
      return false;
    Total more = Total(data.costs[better]) - data.costs[worse];
    for (const MergedEdges::End &end : merged.ends[node]) {
      uint32_t owns = choices(node), others = choices(end.node);
      Total most = -Total(kImpossible);
      for (uint32_t other = 0; other < others; ++other) {
        if (!result.keeps[end.node][other])
          continue;
        int64_t old = merged.cost(end, worse, other, owns, others);
        if (old >= kImpossible)
          continue;
        int64_t now = merged.cost(end, better, other, owns, others);
        if (now >= kImpossible)
          return false;
        most = std::max(most, Total(now) - old);
      }
      more += most;
    }
    return more <= 0;
  }

  void dominate(uint32_t node) {
    uint64_t work = 0;
    for (const MergedEdges::End &end : merged.ends[node])
      work += choices(end.node);
    if (work * left[node] * left[node] > kMostDominanceWork)
      return;
    for (uint32_t worse = 0; worse < choices(node); ++worse)
      for (uint32_t better = 0; better < choices(node) && result.keeps[node][worse]; ++better)
        if (better != worse && result.keeps[node][better] && dominates(node, better, worse))
          remove(node, worse);
  }

  const Problem &problem;
  const MergedEdges &merged;
  Reduction result;
  std::vector<uint32_t> left; ///< remaining choices of a node
  std::vector<uint32_t> queue;
  std::vector<bool> waits;
};

} // namespace

MergedEdges::MergedEdges(const Problem &problem) : ends(problem.nodes.size()) {
  std::vector<std::pair<std::pair<uint32_t, uint32_t>, uint32_t>> order;
  for (uint32_t index = 0; index < problem.edges.size(); ++index)
    order.push_back({std::minmax(problem.edges[index].a, problem.edges[index].b), index});
  std::sort(order.begin(), order.end());
  std::unordered_set<const void *> known; // tables without costs above kImpossible
  for (size_t at = 0; at < order.size(); ++at) {
    const Edge &edge = problem.edges[order[at].second];
    size_t rows = problem.nodes[edge.a].costs.size(), columns = problem.nodes[edge.b].costs.size();
    if (!at || order[at].first != order[at - 1].first) {
      edges.push_back(edge);
      if (!known.insert(edge.costs.identity()).second)
        continue;
      if (std::any_of(edge.costs.begin(), edge.costs.end(), [](int64_t cost) { return cost > kImpossible; })) {
        known.erase(edge.costs.identity());
        for (int64_t &cost : edges.back().costs.own())
          cost = std::min(cost, kImpossible);
      }
      continue;
    }
    Edge &sum = edges.back();
    std::vector<int64_t> &costs = sum.costs.own();
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        int64_t &cost = costs[sum.a == edge.a ? row * columns + column : column * rows + row];
        cost = std::min(cost + std::min(edge.costs[row * columns + column], kImpossible), kImpossible);
      }
  }
  for (uint32_t index = 0; index < edges.size(); ++index) {
    ends[edges[index].a].push_back({index, edges[index].b, true});
    ends[edges[index].b].push_back({index, edges[index].a, false});
  }
}

Reduction millrace::autosharding::reduce(const Problem &problem, const MergedEdges &merged) { return Reducer(problem, merged).run(); }

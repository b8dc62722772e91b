// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/RegionMoves.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace millrace::autosharding;

/// The relative rounding error of sums of some thousand doubles is less. Unit: relative error. Source: arithmetic: 2^-53 each, times their number.
static constexpr double kRounding = 1e-11;

RegionMoves::RegionMoves(const Model &model, const Forest &forest)
    : model(model), forest(forest), messages(model), decoder(model), inside(model.size(), 0), cost(model.cost.size(), 0.0),
      proposal(model.size(), 0), seen(model.size(), 0) {}

void RegionMoves::growBall(uint32_t start, uint32_t most) {
  region.assign(1, forest.core[start]);
  std::fill(seen.begin(), seen.end(), 0);
  seen[region[0]] = 1;
  for (size_t at = 0; at < region.size() && region.size() < most; ++at) {
    uint32_t place = forest.place[region[at]];
    for (uint32_t link = forest.firstCoreLink[place]; link < forest.firstCoreLink[place + 1] && region.size() < most; ++link)
      if (uint32_t node = forest.coreLinks[link].node; !seen[node])
        seen[node] = 1, region.push_back(node);
  }
  std::sort(region.begin(), region.end());
}

void RegionMoves::growWindow(uint32_t start, uint32_t most) {
  uint32_t end = uint32_t(std::min<size_t>(forest.core.size(), size_t(start) + most));
  region.assign(forest.core.begin() + start, forest.core.begin() + end);
}

uint64_t RegionMoves::solve(const FoldedForest &folded, const State &state, uint32_t passes, double noise, Random &random) {
  found.clear();
  uint64_t work = 0;
  for (uint32_t node : region)
    inside[node] = 1;
  double present = 0;
  for (uint32_t node : region) {
    uint32_t count = model.choices(node), place = forest.place[node];
    double *own = cost.data() + model.first[node];
    std::copy_n(folded.cost.data() + model.first[node], count, own);
    for (uint32_t at = forest.firstCoreLink[place]; at < forest.firstCoreLink[place + 1]; ++at) {
      const EdgeEnd &link = forest.coreLinks[at];
      if (inside[link.node]) {
        if (link.node > node)
          present += link.out.row(state[node])[state[link.node]];
        continue;
      }
      const double *row = link.in.row(state[link.node]);
      for (uint32_t choice = 0; choice < count; ++choice)
        own[choice] += row[choice];
      work += count;
    }
    present += own[state[node]];
  }
  for (uint32_t node : region)
    inside[node] = 0;
  messages.reset(region);
  bool best = false;
  for (uint32_t pass = 0; pass < passes && !best; ++pass) {
    double bound = messages.iterate(cost);
    work += messages.work();
    best = noise <= 0 && present - bound <= kRounding * std::abs(present);
  }
  if (best)
    return work;
  order.resize(region.size());
  std::iota(order.begin(), order.end(), 0);
  decoder.decode(messages, cost, order, noise, random, proposal);
  work += decoder.work();
  split(state);
  return work;
}

void RegionMoves::split(const State &state) {
  std::vector<uint32_t> queue;
  auto differs = [&](uint32_t node) { return inside[node] && proposal[node] != state[node]; };
  for (uint32_t node : region)
    inside[node] = 1;
  for (uint32_t first : region) {
    if (!differs(first))
      continue;
    found.emplace_back();
    queue.assign(1, first);
    inside[first] = 0;
    for (size_t at = 0; at < queue.size(); ++at) {
      uint32_t node = queue[at], place = forest.place[node];
      found.back().push_back({node, proposal[node]});
      for (uint32_t link = forest.firstCoreLink[place]; link < forest.firstCoreLink[place + 1]; ++link)
        if (uint32_t other = forest.coreLinks[link].node; differs(other))
          inside[other] = 0, queue.push_back(other);
    }
  }
  for (uint32_t node : region)
    inside[node] = 0;
}

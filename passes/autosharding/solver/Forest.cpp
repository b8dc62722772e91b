// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Forest.h"

#include <algorithm>

using namespace millrace::autosharding;

Forest::Forest(const Model &model) : parent(model.size(), nullptr), place(model.size(), kNone), firstBest(model.size(), 0) {
  std::vector<uint32_t> left(model.size());
  std::vector<bool> gone(model.size(), false);
  for (uint32_t node = 0; node < model.size(); ++node)
    if ((left[node] = model.degree(node)) <= 1)
      order.push_back(node), gone[node] = true;
  for (size_t at = 0; at < order.size(); ++at) {
    uint32_t node = order[at];
    for (const EdgeEnd *link = model.begin(node); link != model.end(node); ++link) {
      // Of two neighbours the one that comes earlier in the order has the other one as its parent.
      if (parent[link->node] && parent[link->node]->node == node)
        continue;
      parent[node] = link;
      if (!gone[link->node] && --left[link->node] <= 1)
        order.push_back(link->node), gone[link->node] = true;
    }
  }
  for (uint32_t node = 0; node < model.size(); ++node)
    if (!gone[node])
      place[node] = uint32_t(core.size()), core.push_back(node);
  firstCoreLink.push_back(0);
  for (uint32_t node : core) {
    for (const EdgeEnd *link = model.begin(node); link != model.end(node); ++link)
      if (place[link->node] != kNone)
        coreLinks.push_back(*link);
    firstCoreLink.push_back(uint32_t(coreLinks.size()));
  }
  firstChild.assign(model.size() + 1, 0);
  for (uint32_t node : order) {
    firstBest[node] = bestSize;
    bestSize += parent[node] ? model.choices(parent[node]->node) : 1;
    if (parent[node])
      ++firstChild[parent[node]->node + 1];
  }
  for (uint32_t node = 0; node < model.size(); ++node)
    firstChild[node + 1] += firstChild[node];
  children.resize(firstChild.back());
  std::vector<uint32_t> next(firstChild.begin(), firstChild.end() - 1);
  for (uint32_t node : order)
    if (parent[node])
      children[next[parent[node]->node]++] = node;
}

void millrace::autosharding::foldForest(const Model &model, const Forest &forest, const std::vector<double> &priced, FoldedForest &folded) {
  folded.cost = priced;
  folded.best.resize(forest.bestSize);
  folded.alone = 0;
  std::vector<std::pair<double, uint16_t>> rows; // least cost beside each row of a table, and the choice that has it
  for (uint32_t node : forest.order) {
    uint32_t count = model.choices(node);
    const double *own = folded.cost.data() + model.first[node];
    uint16_t *best = folded.best.data() + forest.firstBest[node];
    const EdgeEnd *link = forest.parent[node];
    if (!link) {
      *best = uint16_t(std::min_element(own, own + count) - own);
      folded.alone += own[*best];
      continue;
    }
    double *target = folded.cost.data() + model.first[link->node];
    uint32_t others = model.choices(link->node);
    if (link->isEquality) {
      for (uint32_t choice = 0; choice < count; ++choice)
        target[choice] += own[choice], best[choice] = uint16_t(choice);
      continue;
    }
    rows.resize(link->in.count);
    for (uint32_t number = 0; number < link->in.count; ++number) {
      const double *row = link->in.costs + size_t(number) * link->in.columns;
      uint32_t found = 0;
      double least = own[0] + row[0];
      for (uint32_t choice = 1; choice < count; ++choice)
        if (double value = own[choice] + row[choice]; value < least)
          least = value, found = choice;
      rows[number] = {least, uint16_t(found)};
    }
    for (uint32_t other = 0; other < others; ++other) {
      target[other] += rows[link->in.rows[other]].first;
      best[other] = rows[link->in.rows[other]].second;
    }
  }
}

void millrace::autosharding::unfoldForest(const Forest &forest, const FoldedForest &folded, std::vector<uint32_t> &choices) {
  for (auto node = forest.order.rbegin(); node != forest.order.rend(); ++node)
    choices[*node] = folded.best[forest.firstBest[*node] + (forest.parent[*node] ? choices[forest.parent[*node]->node] : 0)];
}

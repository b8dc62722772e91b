// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduction.h - Which choices a solution can do without --------------===//
// Three reasons take a choice away: it is impossible beside what a neighbour has left (arc consistency, to a fixed point); with it even the
// least usages of all other nodes exceed the limit; or another choice of its node is at least as good in cost, in every pair with every
// neighbour, and in memory (a dominated choice). The first two keep every solution, the third one keeps at least one of the best.
#pragma once

#include "passes/autosharding/solver/Model.h"

namespace millrace::autosharding {

/// The edges of a problem with parallel ones added up, as a graph.
struct MergedEdges {
  struct End {
    uint32_t edge, node;
    bool first; ///< the node that sees this is the edge's a
  };
  std::vector<Edge> edges; ///< costs above kImpossible are kImpossible
  std::vector<std::vector<End>> ends;

  explicit MergedEdges(const Problem &problem);
  /// The cost of the pair where the node of `end`'s owner chooses `own` and the other node `other`.
  int64_t cost(const End &end, uint32_t own, uint32_t other, uint32_t owns, uint32_t others) const {
    return edges[end.edge].costs[end.first ? size_t(own) * others + other : size_t(other) * owns + own];
  }
};

struct Reduction {
  std::vector<std::vector<bool>> keeps; ///< node, choice
  uint64_t removed = 0;
  Obstacle obstacle;
};

Reduction reduce(const Problem &problem, const MergedEdges &merged);

} // namespace millrace::autosharding

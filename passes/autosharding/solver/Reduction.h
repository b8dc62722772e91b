// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduction.h - Remove choices that no best solution needs ------------===//
// A choice is removed for three reasons: it is impossible with all remaining choices of a neighbour (arc consistency, to a fixed point); it exceeds
// the limit together with the least usages of all other nodes; or another choice of its node is at least as good in cost, in every pair with every
// neighbour, and in memory (a dominated choice). The first two reasons keep every solution, the third one keeps at least one of the best.
#pragma once

#include "passes/autosharding/solver/Model.h"

namespace millrace::autosharding {

/// The edges of a problem as a graph, with the costs of parallel ones added.
struct MergedEdges {
  struct End {
    uint32_t edge, node;
    bool first; ///< the owner of this end is the edge's node a
  };
  std::vector<Edge> edges; ///< costs above kImpossible are kImpossible
  std::vector<std::vector<End>> ends;

  explicit MergedEdges(const Problem &problem);
  /// Returns the cost of the pair in which the owner of `end` chooses `own` and the other node `other`.
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

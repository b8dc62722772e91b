// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Model.h - A problem as the solver works on it ----------------------===//
// Parallel edges are merged, equal tables stored once (a program of equal layers has a few thousand of them, which stay in a core's caches),
// choices that no solution, or no best one, can contain are gone, and nodes with a single choice have left their costs with their neighbours
// and their memory with the limit.
#pragma once

#include "passes/autosharding/solver/Problem.h"
#include "passes/autosharding/solver/Timeline.h"

namespace millrace::autosharding {

/// One end of an edge as a node sees it.
struct Link {
  uint32_t edge;
  uint32_t node;     ///< the other end
  const double *out; ///< costs, own choice times the other's number of choices plus the other's choice
  const double *in;  ///< the same, transposed: other's choice times the own number of choices plus the own choice
};

struct Model {
  Model() = default;
  Model(const Model &) = delete; ///< links point into `tables`
  Model &operator=(const Model &) = delete;

  uint32_t size() const { return uint32_t(first.size() - 1); }
  uint32_t choices(uint32_t node) const { return first[node + 1] - first[node]; }
  const Link *begin(uint32_t node) const { return links.data() + firstLink[node]; }
  const Link *end(uint32_t node) const { return links.data() + firstLink[node + 1]; }
  uint32_t degree(uint32_t node) const { return firstLink[node + 1] - firstLink[node]; }

  std::vector<uint32_t> first;    ///< node -> its first choice in the arrays below; one more at the end
  std::vector<double> cost;       ///< choice -> cost, that of edges to nodes with a single choice included
  std::vector<int64_t> usage;     ///< choice -> bytes above the node's least, 0 where no maximal time sees the node
  std::vector<uint32_t> original; ///< choice -> its number in the problem
  std::vector<std::pair<uint32_t, uint32_t>> spans; ///< node -> the maximal times at which it is live
  std::vector<int64_t> room;                        ///< maximal time -> bytes for `usage`: the limit minus every node's least
  std::vector<uint32_t> firstLink;
  std::vector<Link> links;
  uint32_t edges = 0;
  uint64_t summands = 0; ///< no number of `cost`, and not `constant`, is the sum of more of the problem's costs
  double constant = 0; ///< costs that every solution has
  double impossible = 0; ///< what stands in tables for kImpossible: more than any possible solution costs, and small enough for exact sums
  double magnitude = 0; ///< no sum of a solution's possible costs, or of a part of them, exceeds this
  std::vector<double> tables;
  uint64_t removed = 0; ///< choices
};

/// What speaks against any solution; `least` is a lower bound on the limit that could help, 0 where no limit would.
struct Obstacle {
  std::string message;
  int64_t least = 0;
};

/// Fills `model`; the obstacle has a message if reductions alone show that there is no solution.
Obstacle buildModel(const Problem &problem, Model &model);

/// The choices of the problem that belong to those of the model.
std::vector<uint32_t> originalChoices(const Model &model, const std::vector<uint32_t> &choices);

} // namespace millrace::autosharding

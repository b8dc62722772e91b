// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Model.h - The solver's representation of a problem ------------------===//
// Parallel edges are merged, equal tables are stored once (a program of equal layers has a few thousand of them, which fit a core's caches), choices
// that no solution, or no best one, can contain are removed, and the costs of nodes with a single choice are added to their neighbours and their
// memory to the limit.
#pragma once

#include "passes/autosharding/solver/Problem.h"
#include "passes/autosharding/solver/Timeline.h"

namespace millrace::autosharding {

/// Costs of pairs of choices: a row of costs for each choice of one node. Equal rows are stored once: what a contraction costs its operand's writer
/// depends on how it splits the operand alone, and many of its choices split it alike.
struct CostTable {
  const double *costs = nullptr;   ///< the rows
  const uint32_t *rows = nullptr;  ///< choice -> number of its row
  uint32_t count = 0, columns = 0; ///< number of rows; costs of each

  const double *row(uint32_t choice) const { return costs + size_t(rows[choice]) * columns; }
};

/// One end of an edge, as seen from a node.
struct EdgeEnd {
  uint32_t edge;
  uint32_t node; ///< the other end
  CostTable out;     ///< a row for each own choice
  CostTable in;      ///< the same costs, transposed: a row for each choice of the other end
  bool isEquality; ///< both ends have to choose the same, which costs nothing

  /// Returns the number of costs that have to be read for a message in both directions.
  uint64_t costs() const { return isEquality ? 2 * uint64_t(out.columns) : uint64_t(out.count) * out.columns + uint64_t(in.count) * in.columns; }
};

struct Model {
  Model() = default;
  Model(const Model &) = delete; ///< links point into `tables`
  Model &operator=(const Model &) = delete;

  uint32_t size() const { return uint32_t(first.size() - 1); }
  uint32_t choices(uint32_t node) const { return first[node + 1] - first[node]; }
  const EdgeEnd *begin(uint32_t node) const { return links.data() + firstLink[node]; }
  const EdgeEnd *end(uint32_t node) const { return links.data() + firstLink[node + 1]; }
  uint32_t degree(uint32_t node) const { return firstLink[node + 1] - firstLink[node]; }

  std::vector<uint32_t> first;    ///< node -> its first choice in the following arrays; one more at the end
  std::vector<double> cost;       ///< choice -> cost, including that of edges to nodes with a single choice
  std::vector<int64_t> usage;     ///< choice -> bytes above the node's least, 0 if the node is live at no maximal time
  std::vector<uint32_t> original; ///< choice -> its number in the problem
  std::vector<std::pair<uint32_t, uint32_t>> spans; ///< node -> the maximal times at which it is live
  std::vector<int64_t> room;                        ///< maximal time -> bytes for `usage`: the limit minus every node's least
  std::vector<uint32_t> firstLink;
  std::vector<EdgeEnd> links;
  uint32_t edges = 0;
  uint64_t summands = 0; ///< largest number of the problem's costs that `constant` or an element of `cost` is the sum of
  double constant = 0; ///< costs that every solution has
  double impossible = 0; ///< kImpossible in tables: more than the cost of any possible solution, small enough for exact sums
  double magnitude = 0; ///< upper bound of the sums of a solution's possible costs, or of a part of them
  std::vector<double> tables;
  std::vector<uint32_t> rows; ///< of tables: choice -> number of its row
  uint64_t removed = 0; ///< number of removed choices
};

/// The reason why there is no solution; `least` is a lower bound on a limit with a solution, 0 if no limit has one.
struct Obstacle {
  std::string message;
  int64_t least = 0;
  int64_t node = -1; ///< that has no possible choice; the message begins with "node " and its number
};

/// Builds `model`. The obstacle has a message if the reductions alone show that there is no solution.
Obstacle buildModel(const Problem &problem, Model &model);

/// Returns the choices of the problem for choices of the model.
std::vector<uint32_t> originalChoices(const Model &model, const std::vector<uint32_t> &choices);

} // namespace millrace::autosharding

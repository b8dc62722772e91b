// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MessagePassing.h - Bounds and choices by reweighted messages -------===//
// Sequential tree-reweighted message passing, TRW-S (Kolmogorov, IEEE PAMI 28(10), 2006), on a part of a cost graph: each pass moves costs between
// nodes and edges so that the sum of all minima, a lower bound, does not decrease. Decode.h derives choices from the messages.
#pragma once

#include "passes/autosharding/solver/Model.h"

namespace millrace::autosharding {

class MessagePassing {
public:
  explicit MessagePassing(const Model &model) : model(model), places(model.size(), kNone) {}

  /// Sets the part of the graph: these nodes and the edges between them. Messages pass in the order of the nodes and start as zeros.
  void reset(std::vector<uint32_t> nodes);

  /// Runs one pass forward and one backward. `cost`: choice of the model -> cost; only those of the part's nodes are read. Returns a bound on the
  /// part's least cost, in floating point (LowerBound.h proves one).
  double iterate(const std::vector<double> &cost);

  struct Neighbour {
    const EdgeEnd *link;
    uint32_t place;       ///< position of the other node in the part
    size_t toMe, toOther; ///< positions of the messages in both directions
  };
  uint32_t size() const { return uint32_t(members.size()); }
  uint32_t node(uint32_t place) const { return members[place]; }
  const Neighbour *begin(uint32_t place) const { return neighbours.data() + firstNeighbour[place]; }
  const Neighbour *later(uint32_t place) const { return neighbours.data() + firstLater[place]; } ///< the first neighbour behind `place`
  const Neighbour *end(uint32_t place) const { return neighbours.data() + firstNeighbour[place + 1]; }
  /// Returns the share of its costs that a node gives to each edge.
  double weight(uint32_t place) const;
  /// Returns the neighbour's message about the node's choices.
  const double *heard(const Neighbour &neighbour) const { return messages.data() + neighbour.toMe; }
  /// Computes the costs of the node's choices plus all messages to it.
  void gather(const std::vector<double> &cost, uint32_t place, std::vector<double> &sum) const;
  /// Returns the number of costs that one iteration reads.
  uint64_t work() const { return reads; }

private:
  /// Fact: marks nodes without a place.
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  double send(const Neighbour &to, uint32_t choices, double weight);

  const Model &model;
  std::vector<uint32_t> members;                    ///< place -> node
  std::vector<uint32_t> places;                     ///< node -> place
  std::vector<uint32_t> firstNeighbour, firstLater; ///< place -> range in neighbours, and the begin of later ones
  std::vector<Neighbour> neighbours;                ///< by place, ascending
  std::vector<double> messages;
  std::vector<double> sum, scratch;
  uint64_t reads = 0;
};

/// Computes out[l] = min over k of (in[k] + table.row(k)[l]). Changes `in`.
void minimizeRows(std::vector<double> &in, const CostTable &table, double *out);

} // namespace millrace::autosharding

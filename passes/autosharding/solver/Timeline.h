// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Timeline.h - The times at which memory can be short ----------------===//
// Only maximal times matter: those at which a node becomes live that is still live when the next one ends. The nodes that are live at any other time
// are live at a maximal one, too, so that the limit holds at all times if it holds at maximal ones. A problem of n nodes has at most n of them,
// whatever its times.
#pragma once

#include "passes/autosharding/solver/Problem.h"

#include <utility>

namespace millrace::autosharding {

/// The ranges of maximal times at which nodes are live: node i at the times spans[i].first <= t < spans[i].second.
struct Timeline {
  std::vector<std::pair<uint32_t, uint32_t>> spans;
  uint32_t count = 0; ///< number of maximal times
};

/// `matters[i]`: whether the node's usage counts; the other nodes get an empty span.
Timeline maximalTimes(const Problem &problem, const std::vector<bool> &matters);

/// A load in bytes at every time, with additions to ranges and maxima in logarithmic time.
class LoadTree {
public:
  LoadTree() = default;
  /// Starts with the given loads, at least one.
  explicit LoadTree(const std::vector<int64_t> &loads);

  /// Adds `bytes` at the times begin <= t < end.
  void add(uint32_t begin, uint32_t end, int64_t bytes);
  int64_t most() const { return highest[1]; }
  /// Returns the maximum over begin <= t < end, which is not empty.
  int64_t most(uint32_t begin, uint32_t end) const;
  /// Returns a time of the largest load.
  uint32_t fullest() const;
  /// Returns the loads at all times, in order.
  std::vector<int64_t> loads() const;

private:
  uint32_t leaves = 1, count = 0;
  std::vector<int64_t> highest; ///< maximum of the subtree, with additions to the subtree, without additions above it
  std::vector<int64_t> added;   ///< to the whole subtree
};

} // namespace millrace::autosharding

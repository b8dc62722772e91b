// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Timeline.h - The times at which memory can be short ----------------===//
// Only maximal times matter: those at which a node begins to live that still lives when the next one ends. The nodes that are live at any other
// time are live at a maximal one too, so its limit holds if theirs do. A problem of n nodes has at most n of them, however many clock ticks.
#pragma once

#include "passes/autosharding/solver/Problem.h"

#include <utility>

namespace millrace::autosharding {

/// Where nodes live in terms of maximal times: node i at the times spans[i].first <= t < spans[i].second.
struct Timeline {
  std::vector<std::pair<uint32_t, uint32_t>> spans;
  uint32_t count = 0; ///< of maximal times
};

/// `matters[i]`: whether the node's usage counts at all; the others get an empty span.
Timeline maximalTimes(const Problem &problem, const std::vector<bool> &matters);

/// A load in bytes at every time, with ranges added and the maximum asked for in logarithmic time.
class LoadTree {
public:
  LoadTree() = default;
  /// Starts from the loads given, at least one.
  explicit LoadTree(const std::vector<int64_t> &loads);

  /// Adds `bytes` at the times begin <= t < end.
  void add(uint32_t begin, uint32_t end, int64_t bytes);
  int64_t most() const { return highest[1]; }
  /// The maximum over begin <= t < end, which is not empty.
  int64_t most(uint32_t begin, uint32_t end) const;
  /// A time of the largest load.
  uint32_t fullest() const;
  /// The loads at all times, in order.
  std::vector<int64_t> loads() const;

private:
  uint32_t leaves = 1, count = 0;
  std::vector<int64_t> highest; ///< of the subtree, with what was added to it, without what was added above it
  std::vector<int64_t> added;   ///< to the whole subtree
};

} // namespace millrace::autosharding

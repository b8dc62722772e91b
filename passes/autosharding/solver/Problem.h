// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Problem.h - One choice per node, costs on edges, a limit of memory -===//
// Plain data. A node is an operation, a choice is a sharding of it, an edge cost is what the change of sharding between two operations costs.
// The format and its meaning are those of the ASPLOS 2025 contest on intra-operator parallelism (google/iopddl).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace millrace::autosharding {

/// Fact: a cost at or above this one means that the choice, or the pair of choices, is impossible (the contest's statement).
constexpr int64_t kImpossible = 1'000'000'000'000'000'000;
/// Fact: the limit of a problem whose memory is not limited.
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
/// Usages of all nodes together stay below this number, so that no sum of them overflows. Unit: bytes. Source: arithmetic: half of int64's range.
constexpr int64_t kMostUsage = int64_t(1) << 62;

/// A sum of costs: 2^64 costs of at most 10^18 fit.
__extension__ typedef __int128 Total;

struct Node {
  std::vector<int64_t> costs;  ///< per choice, not negative
  std::vector<int64_t> usages; ///< per choice: bytes that the node holds while it is live, not negative
  int64_t begin = 0, end = 0;  ///< it is live at the times begin <= t < end; never if end <= begin
};

struct Edge {
  uint32_t a = 0, b = 0;      ///< nodes, not the same one
  std::vector<int64_t> costs; ///< row-major: a's choice times the number of b's choices, plus b's choice; not negative
};

struct Problem {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Edge> edges; ///< several may join the same two nodes: their costs add up
  int64_t usageLimit = kNoLimit;
};

/// What makes the problem malformed (sizes that differ, negative numbers, nodes that do not exist), empty if nothing does. The message names
/// the node or edge, the expected and the actual value.
std::string verify(const Problem &problem);

/// The cost of one choice per node, and the most bytes that are live at one time.
struct Value {
  Total cost = 0;
  bool possible = true; ///< no choice and no pair of choices costs kImpossible
  int64_t peak = 0;     ///< bytes
};

/// Exact. `choices` has one valid choice per node of a verified problem.
Value evaluate(const Problem &problem, const std::vector<uint32_t> &choices);

/// Decimal digits, because streams do not print 128 bits.
std::string toString(Total value);

} // namespace millrace::autosharding

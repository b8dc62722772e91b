// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Problem.h - One choice per node, costs on edges, a memory limit ----===//
// Plain data. A node is an operation, a choice is a sharding of it, and the cost of an edge is that of the change of shardings between two
// operations. The format and its meaning are those of the ASPLOS 2025 contest on intra-operator parallelism (google/iopddl).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace millrace::autosharding {

/// Fact: a cost of at least this number means that the choice, or the pair of choices, is impossible (the contest's statement).
constexpr int64_t kImpossible = 1'000'000'000'000'000'000;
/// Fact: the limit of a problem whose memory is not limited.
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
/// The sum of the usages of all nodes is below this number, so that no sum overflows. Unit: bytes. Source: arithmetic: half of int64's range.
constexpr int64_t kMostUsage = int64_t(1) << 62;

/// A sum of costs, which can hold 2^64 costs of at most 10^18.
__extension__ typedef __int128 Total;

struct Node {
  std::vector<int64_t> costs;  ///< per choice, not negative
  std::vector<int64_t> usages; ///< per choice: bytes that the node holds while it is live, not negative
  int64_t begin = 0, end = 0;  ///< the node is live at the times begin <= t < end; never if end <= begin
};

/// Costs of pairs of choices. Copies share them until one of them is changed: a program of equal layers has few different ones.
class PairCosts {
public:
  PairCosts() : table(std::make_shared<std::vector<int64_t>>()) {}
  PairCosts(std::initializer_list<int64_t> costs) : PairCosts(std::vector<int64_t>(costs)) {}
  PairCosts(std::vector<int64_t> costs) : table(std::make_shared<std::vector<int64_t>>(std::move(costs))) {}

  size_t size() const { return table->size(); }
  int64_t operator[](size_t index) const { return (*table)[index]; }
  std::vector<int64_t>::const_iterator begin() const { return table->begin(); }
  std::vector<int64_t>::const_iterator end() const { return table->end(); }
  const std::vector<int64_t> &list() const { return *table; }
  void push_back(int64_t cost) { own().push_back(cost); }
  /// Returns costs that no copy shares, to be changed.
  std::vector<int64_t> &own() {
    if (table.use_count() > 1)
      table = std::make_shared<std::vector<int64_t>>(*table);
    return *table;
  }
  /// Returns what copies that share the costs have in common, as long as one of them lives.
  const void *identity() const { return table.get(); }
  friend bool operator==(const PairCosts &one, const PairCosts &other) { return *one.table == *other.table; }

private:
  std::shared_ptr<std::vector<int64_t>> table;
};

struct Edge {
  uint32_t a = 0, b = 0; ///< two different nodes
  PairCosts costs;       ///< row-major: a's choice times the number of b's choices, plus b's choice; not negative
};

struct Problem {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Edge> edges; ///< several edges may connect the same two nodes; their costs are added
  int64_t usageLimit = kNoLimit;
};

/// Returns what makes the problem malformed (sizes that differ, negative numbers, nodes that do not exist); empty if nothing does. The message names
/// the node or edge, the expected and the actual value.
std::string verify(const Problem &problem);

/// The cost of one choice per node, and the largest number of bytes that are live at one time.
struct Value {
  Total cost = 0;
  bool possible = true; ///< false if a choice or a pair of choices costs kImpossible
  int64_t peak = 0;     ///< bytes
};

/// Evaluates exactly. `choices` has one valid choice per node of a verified problem.
Value evaluate(const Problem &problem, const std::vector<uint32_t> &choices);

/// Returns decimal digits, because streams do not print 128 bits.
std::string toString(Total value);

} // namespace millrace::autosharding

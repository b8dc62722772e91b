// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Analysis.h - PT_XLA_DEBUG: why something was compiled or run --------===//
// PT_XLA_DEBUG=1 (or PT_XLA_DEBUG_LEVEL=2) reports every compilation and execution, PT_XLA_DEBUG_LEVEL=1 compilations only; to
// stderr or PT_XLA_DEBUG_FILE, with PT_XLA_DEBUG_MAX_FRAME frames (8). The lines are PyTorch/XLA's; a compilation of a graph
// that resembles a known one also names the first node that differs.
#pragma once
#include "tracing/Origin.h"

namespace millrace::tracing {

/// A graph that was compiled, in a form that can be compared.
struct GraphSummary {
  struct Item {
    const Kind *kind = nullptr; ///< null: a leaf
    Shape shape;                ///< of a leaf
    bool isNumber = false;
    std::vector<uint32_t> operands; ///< leaves count first, then nodes
    Origin origin;
    uint32_t firstUser = 0; ///< of a leaf: the item that uses it first
  };
  std::vector<Item> items; ///< leaves, then nodes
  size_t leaves = 0, results = 0;
};
GraphSummary summarize(const Schedule &schedule, size_t results);

/// Where two graphs part.
struct Difference {
  std::string text; ///< one or two lines, with the user's places
  size_t alike = 0; ///< so many first nodes have the same operators
  size_t same = 0;  ///< so many first nodes have the same types and attributes, too
  bool isNearerThan(const Difference &other) const {
    return alike != other.alike ? alike > other.alike : same > other.same;
  }
};
Difference difference(const GraphSummary &before, const GraphSummary &now);

/// Why a graph is run now, from the functions that are active.
std::string syncCause(const std::vector<Place> &stack);
/// On this thread, instead of what the functions say; empty: no longer. Returns the former one.
std::string setSyncCause(std::string cause);
/// The same while it lives.
class SyncCause {
public:
  explicit SyncCause(std::string cause) : outer(setSyncCause(std::move(cause))) {}
  ~SyncCause() { setSyncCause(std::move(outer)); }
  SyncCause(const SyncCause &) = delete;

private:
  std::string outer;
};

/// 0: nothing is reported, 1: compilations, 2 and more: executions too.
int debugLevel();

struct AnalysisOf {
  Digest graph;
  size_t inputs = 0, outputs = 0;
  std::vector<Place> stack;
};
void reportCompilation(const AnalysisOf &what, const std::string &difference);
void reportExecution(const AnalysisOf &what);
void reportCompiled(const runtime::MemoryStats &memory);

} // namespace millrace::tracing

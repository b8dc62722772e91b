// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Analysis.h - PT_XLA_DEBUG: reports of compilations and executions ---===//
// PT_XLA_DEBUG=1 (or PT_XLA_DEBUG_LEVEL=2) reports the cause of every compilation and execution, PT_XLA_DEBUG_LEVEL=1 that of compilations only; to
// stderr or PT_XLA_DEBUG_FILE, with PT_XLA_DEBUG_MAX_FRAME stack frames (default: 8). The lines have PyTorch/XLA's form. The report of a graph that
// resembles a compiled one also names the first node that differs.
#pragma once
#include "tracing/graph/Origin.h"

namespace millrace::tracing {

/// A compiled graph in a form that can be compared with other graphs.
struct GraphSummary {
  struct Item {
    const Kind *kind = nullptr; ///< null for a leaf
    Shape shape;                ///< of a leaf
    bool isNumber = false;
    std::vector<uint32_t> operands; ///< indices of items; leaves have the lower ones
    Origin origin;
    uint32_t firstUser = 0; ///< of a leaf: the first item that uses the leaf
  };
  std::vector<Item> items; ///< leaves, then nodes
  size_t leaves = 0, results = 0;
};
GraphSummary summarize(const Schedule &schedule, size_t results);

/// The first difference between two graphs.
struct Difference {
  std::string text; ///< one or two lines, with the lines of the user's program
  size_t alike = 0; ///< length of the common prefix of nodes with the same operators
  size_t same = 0;  ///< length of the common prefix of nodes that also have the same types and attributes
  bool isNearerThan(const Difference &other) const {
    return alike != other.alike ? alike > other.alike : same > other.same;
  }
};
Difference difference(const GraphSummary &before, const GraphSummary &now);

/// Returns why a graph is executed now, derived from the active functions of the user's program.
std::string syncCause(const std::vector<Place> &stack);
/// Sets the cause that this thread reports instead of syncCause(); an empty string ends that. Returns the previous cause.
std::string setSyncCause(std::string cause);
/// Calls setSyncCause() for its lifetime.
class SyncCause {
public:
  explicit SyncCause(std::string cause) : outer(setSyncCause(std::move(cause))) {}
  ~SyncCause() { setSyncCause(std::move(outer)); }
  SyncCause(const SyncCause &) = delete;

private:
  std::string outer;
};

/// Returns what is reported: 0 nothing, 1 compilations, 2 and more also executions.
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StepOrder.h - The order of steps that needs the least memory --------===//
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace millrace::lowering {

/// The steps of one block and the memory that they touch.
struct StepGraph {
  /// Memory for one value, or for several that share it. It is in use from the first step that touches it to the last one.
  struct Buffer {
    uint64_t bytes = 0;
    bool isKept = false; ///< in use until after the last step
    /// Steps that read the memory of a donated argument which the buffer can take the place of: if none of them comes after the first
    /// step that touches the buffer, the buffer takes no memory of its own; otherwise it is kept. Empty: it replaces nothing.
    std::vector<uint32_t> readersOfReplaced;
  };
  struct Step {
    std::vector<uint32_t> after;   ///< steps that must come before it
    std::vector<uint32_t> touches; ///< buffers that it reads or writes, each once
    uint64_t extra = 0;            ///< bytes in use while it runs, beside its buffers
    /// {read, written}: if no later step touches `read`, `written` begins in its memory.
    std::vector<std::pair<uint32_t, uint32_t>> inPlace;
  };
  std::vector<Buffer> buffers;
  std::vector<Step> steps; ///< in an order that is possible: `after` holds smaller numbers only
};

/// The bytes in use while the most are, and the sum over all steps.
struct MemoryUse {
  uint64_t peak = 0;
  unsigned __int128 sum = 0;
};

/// What `order`, a permutation of the steps, takes.
MemoryUse memoryOf(const StepGraph &graph, const std::vector<uint32_t> &order);

/// No order has a smaller peak: while a step runs, its own buffers are in use, and so are those that a step before it must have touched and
/// a step after it must touch still. In graphs of more than `kMostStepsOfExactBound` steps each step's own buffers alone are looked at.
uint64_t leastPeak(const StepGraph &graph);
/// In larger graphs each step's own buffers alone are the bound: the exact one takes time in proportion to the square. Unit: steps. Source:
/// judgement, not measured alone.
inline constexpr uint32_t kMostStepsOfExactBound = 8192;

struct StepOrder {
  std::vector<uint32_t> order;
  MemoryUse use, given; ///< of `order`, and of the order of StepGraph::steps
  uint64_t least = 0;   ///< leastPeak
};

/// Looks for an order with a small peak, and among those that it finds for the smallest sum, until the peak is leastPeak. Never worse than the given
/// order, which stays as it is unless another has a smaller peak. Several list schedules, forwards and backwards; then single steps are moved to
/// where they need less. Takes time in proportion to the edges, times a logarithm, and at most `kMovesPerStep` comparisons per step, beside what
/// leastPeak takes. Depends on the graph alone.
StepOrder orderSteps(const StepGraph &graph);
/// What orderSteps may spend on moving single steps. Unit: comparisons per step. Source: judgement, not measured alone.
inline constexpr uint64_t kMovesPerStep = 500;

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StepOrder.h - Find the order of steps with the least memory ---------===//
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace millrace::lowering {

/// The steps of one block and the memory that they touch.
struct StepGraph {
  /// Memory of one value, or of several that share it. It is live from the first step that touches it to the last one.
  struct Buffer {
    uint64_t bytes = 0;
    bool isKept = false; ///< live until after the last step
    /// Steps that read the memory of a donated argument which the buffer can replace: if none of them comes after the first step that touches the
    /// buffer, the buffer takes no memory of its own; otherwise it is kept. Empty: it replaces no argument.
    std::vector<uint32_t> readersOfReplaced;
  };
  struct Step {
    std::vector<uint32_t> after;   ///< steps that must come before it
    std::vector<uint32_t> touches; ///< buffers that it reads or writes, each once
    uint64_t extra = 0;            ///< bytes that are live while it runs, in addition to its buffers
    /// {read, written}: if no later step touches `read`, `written` begins in its memory.
    std::vector<std::pair<uint32_t, uint32_t>> inPlace;
  };
  std::vector<Buffer> buffers;
  std::vector<Step> steps; ///< in a valid order: `after` holds smaller indices only
};

/// The peak of the live bytes, and their sum over all steps.
struct MemoryUse {
  uint64_t peak = 0;
  unsigned __int128 sum = 0;
};

/// Returns the memory that `order`, a permutation of the steps, takes.
MemoryUse memoryOf(const StepGraph &graph, const std::vector<uint32_t> &order);

/// The steps of the given order during which a buffer takes memory: begin <= step < end. None, {0, 0}, if it takes an argument's memory or is touched
/// by no step. A buffer that is kept ends behind the last step; one that begins in another one's memory begins a step later.
struct BufferLife {
  uint32_t begin = 0, end = 0;
};

/// Returns the life of each buffer with the steps in the order in which the graph has them. What is live at a step, with the step's extra bytes, is
/// what memoryOf() counts there.
std::vector<BufferLife> livesOf(const StepGraph &graph);

/// Returns a lower bound of every order's peak: while a step runs, its own buffers are live, and so are those that a preceding step must have touched
/// and a following step must still touch. In graphs of more than `kMostStepsOfExactBound` steps only each step's own buffers count.
uint64_t leastPeak(const StepGraph &graph);
/// In larger graphs only each step's own buffers are the bound, because the exact bound takes quadratic time. Unit: steps. Source: judgement, not
/// measured alone.
inline constexpr uint32_t kMostStepsOfExactBound = 8192;

struct StepOrder {
  std::vector<uint32_t> order;
  MemoryUse use, given; ///< of `order`, and of the order of StepGraph::steps
  uint64_t least = 0;   ///< leastPeak
};

/// Searches an order with a small peak, and among those found with the smallest sum, until the peak is leastPeak. Never worse than the given order,
/// which is kept unless another has a smaller peak. Several list schedules, forwards and backwards, are followed by moves of single steps to where
/// they need less. Takes time in proportion to the edges, times a logarithm, and at most `kMovesPerStep` comparisons per step, in addition to
/// leastPeak. Depends on the graph alone.
StepOrder orderSteps(const StepGraph &graph);
/// The budget of orderSteps for moving single steps. Unit: comparisons per step. Source: judgement, not measured alone.
inline constexpr uint64_t kMovesPerStep = 500;

} // namespace millrace::lowering

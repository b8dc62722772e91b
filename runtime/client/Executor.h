// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executor.h - Runs the steps of a program on one device --------------===//
#pragma once
#include "runtime/base/ThreadPool.h"
#include "runtime/buffer/Memory.h"
#include "runtime/client/SmallLoop.h"
#include "runtime/collective/Collective.h"
#include "runtime/kernels/CustomCall.h"
#include "runtime/loader/Loader.h"
#include "runtime/profile/ProgramInfo.h"

#include <deque>
#include <unordered_map>

namespace millrace::runtime {

/// Memory that belongs to a slot with run-time shape.
struct DynamicCell {
  void *data = nullptr;
  uint64_t capacity = 0;
};

/// The value of `expr` for these run-time dims. InvalidArgument if it overflows or divides by a number that is not positive.
StatusOr<int64_t> evaluate(const DimExpr &expr, const int64_t *dims);

/// Everything about a program that is worked out once, when it is loaded. Immutable afterwards, but for a hint, and shared by devices.
struct Plan {
  static StatusOr<std::shared_ptr<const Plan>> create(std::shared_ptr<const Program> program,
                                                      std::shared_ptr<LoadedCode> code);
  struct Loop {
    enum class Carry : uint8_t { Nothing, Swap, Rotate, Copy };
    std::vector<Carry> carries;
    /// Of pairs that rotate: the first slot of each list takes the memory of the second, and so on, the last that of the first.
    std::vector<std::vector<SlotId>> rotations;
    std::vector<SlotId> views;  ///< into slots whose addresses are exchanged
    bool staged = false; ///< copies go through a temporary: a next slot is the state of another pair
    bool hasDims = false;
    uint64_t stagingBytes = 0;
    std::optional<SmallLoop> small; ///< how it runs where nobody measures its steps
  };
  struct FunctionPlan {
    bool hasCells = false;
    std::vector<uint8_t> isCell;                ///< per slot: memory belongs to a DynamicCell
    std::vector<std::vector<SlotId>> freeAfter; ///< per top-level step: cells of this frame not used later
    uint64_t frameBytes = 0;                    ///< of one activation
    uint64_t stackBytes = 0;                    ///< with the deepest chain of callees
  };
  std::shared_ptr<const Program> program;
  std::shared_ptr<LoadedCode> code;
  std::vector<FunctionPlan> functions;
  std::unordered_map<const LoopStep *, Loop> loops;
  std::unordered_map<const CustomCallStep *, CustomCallHandler> customCalls;
  uint64_t stagingBytes = 0;
  bool meetsOthers = false; ///< has collectives, sends or receives
  /// A hash of what processes that execute the program together have to have in common: its type and its exchanges, not its code.
  uint64_t agreement = 0;
  bool mayWaitForCaller = false; ///< has infeed, outfeed, foreign custom calls
  bool mayBlock() const { return meetsOthers || mayWaitForCaller; }
  /// What records say of it. Made when it is first recorded.
  const profile::ProgramInfo *info() const;
  /// How the next kernel that streams through memory goes (Executor::backwardStep). Kept between executions, which take turns like kernels.
  mutable std::atomic<bool> goesBackward{false};
  /// Rough cost of one execution without loops and run-time ranges, in picoseconds; ~0 when unknown.
  uint64_t picoseconds = 0;
  /// All run-time dims follow from the shapes of the arguments: so do the shapes of results.
  bool hasDimsOfArguments = false;
  /// The run-time dims of the entry function for arguments of these shapes. Only if hasDimsOfArguments.
  StatusOr<std::vector<int64_t>> dimsFor(const std::vector<const std::vector<int64_t> *> &arguments) const;
  /// `picoseconds` for these run-time dims.
  uint64_t picosecondsFor(const std::vector<int64_t> &dims) const;

private:
  mutable std::atomic<const profile::ProgramInfo *> described{nullptr};
};

/// Data between host code and infeed, outfeed, send and recv steps of one device.
class HostChannels {
public:
  static constexpr int64_t infeed = -1, outfeed = -2;
  void push(int64_t channel, std::vector<std::string> tensors);
  /// Waits for the next entry; DeadlineExceeded after `timeoutSeconds`.
  StatusOr<std::vector<std::string>> pop(int64_t channel, double timeoutSeconds);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<int64_t, std::deque<std::vector<std::string>>> queues;
};

/// The place where a program runs.
struct ExecutionTarget {
  ThreadPool *pool = nullptr;
  std::shared_ptr<Allocator> allocator;
  RunContext *context = nullptr; ///< required when plan.meetsOthers
  HostChannels *channels = nullptr;
  uint32_t replica = 0, partition = 0, device = 0;
  double timeoutSeconds = RunContext::defaultTimeout;
  int64_t run = 0; ///< equal for all devices of one execution
  uint64_t rngSeed = 0; ///< of this execution, equal for all its devices
};

/// How an execution divides the arena that it is lent (Allocator::lend): the arena of its entry function, the stack of its frames, and room for
/// the states of loops that change places.
struct ArenaLayout {
  explicit ArenaLayout(const Plan &plan);
  uint64_t stack = 0, staging = 0; ///< offsets; the entry function's arena comes first
  uint64_t bytes = 0;
};

/// An argument of the entry function: memory and actual shape.
struct BoundArgument {
  void *data = nullptr;
  const int64_t *dims = nullptr;
};

/// A result. For static shapes the caller sets `data`; for run-time shapes the executor fills `cell` (memory from
/// target.allocator, of `cell.capacity` bytes, now the caller's) and `dims`.
struct BoundResult {
  void *data = nullptr;
  DynamicCell cell;
  std::vector<int64_t> dims;
};

/// Runs the entry function in `arena`, which holds ArenaLayout(plan).bytes bytes. On error the contents of the results are undefined and cells of
/// results are empty.
Status execute(const Plan &plan, void *arena, const ExecutionTarget &target,
               const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results);

/// This thread is executing a custom call.
bool insideCustomCall();

} // namespace millrace::runtime

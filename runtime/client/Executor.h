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

/// The memory of a slot whose shape is known at run time only.
struct DynamicCell {
  void *data = nullptr;
  uint64_t capacity = 0;
};

/// Evaluates `expr` for these run-time dims. Errors: InvalidArgument if it overflows or divides by a number that is not positive.
StatusOr<int64_t> evaluate(const DimExpr &expr, const int64_t *dims);

/// Everything about a program that is computed once, when it is loaded. Immutable afterwards, except for a hint, and shared by devices.
struct Plan {
  static StatusOr<std::shared_ptr<const Plan>> create(std::shared_ptr<const Program> program,
                                                      std::shared_ptr<LoadedCode> code);
  struct Loop {
    enum class Carry : uint8_t { Nothing, Swap, Rotate, Copy };
    std::vector<Carry> carries;
    /// Cycles among the pairs: the first slot of each list takes the memory of the second, and so on, and the last slot that of the first.
    std::vector<std::vector<SlotId>> rotations;
    std::vector<SlotId> views;  ///< views of slots whose addresses are exchanged
    bool staged = false; ///< copies go through a temporary, because a next slot is the state slot of another pair
    bool hasDims = false;
    uint64_t stagingBytes = 0;
    std::optional<SmallLoop> small; ///< how the loop runs unless its steps are measured
  };
  struct FunctionPlan {
    bool hasCells = false;
    std::vector<uint8_t> isCell;                ///< per slot, whether its memory belongs to a DynamicCell
    std::vector<std::vector<SlotId>> freeAfter; ///< per top-level step the cells of this frame whose last use it is
    uint64_t frameBytes = 0;                    ///< bytes of the frame of one activation
    uint64_t stackBytes = 0;                    ///< the same with the deepest chain of callees
  };
  std::shared_ptr<const Program> program;
  std::shared_ptr<LoadedCode> code;
  std::vector<FunctionPlan> functions;
  std::unordered_map<const LoopStep *, Loop> loops;
  std::unordered_map<const CustomCallStep *, CustomCallHandler> customCalls;
  uint64_t stagingBytes = 0;
  bool meetsOthers = false; ///< has collectives, sends or receives
  /// A hash of what must be equal in processes that execute the program together: its type and its collectives and transfers, not its code.
  uint64_t agreement = 0;
  bool mayWaitForCaller = false; ///< has infeed, outfeed, foreign custom calls
  bool mayBlock() const { return meetsOthers || mayWaitForCaller; }
  /// Returns the description of the program in profiles, which is made when it is first recorded.
  const profile::ProgramInfo *info() const;
  /// The direction of the next kernel that streams through memory (Executor::backwardStep). Kept between executions, which alternate like kernels.
  mutable std::atomic<bool> goesBackward{false};
  /// Rough cost in picoseconds of one execution, without loops and run-time ranges; ~0 if unknown.
  uint64_t picoseconds = 0;
  /// True if all run-time dims, and so the shapes of results, follow from the shapes of the arguments.
  bool hasDimsOfArguments = false;
  /// Computes the run-time dims of the entry function that follow from the shapes of its arguments, which have the types of the program; others are 0.
  /// Compares these shapes with each other. Errors: InvalidArgument, with argument and dimension.
  Status dimsFor(const std::vector<const std::vector<int64_t> *> &arguments, std::vector<int64_t> &dims) const;
  const Function &entryFunction() const { return program->functions[program->entry]; }
  /// Returns `picoseconds` for these run-time dims.
  uint64_t picosecondsFor(const std::vector<int64_t> &dims) const;

private:
  mutable std::atomic<const profile::ProgramInfo *> described{nullptr};
};

/// The data between host code and the infeed, outfeed, send and recv steps of one device.
class HostChannels {
public:
  static constexpr int64_t infeed = -1, outfeed = -2;
  void push(int64_t channel, std::vector<std::string> tensors);
  /// Waits for the next entry. Errors: DeadlineExceeded after `timeoutSeconds`.
  StatusOr<std::vector<std::string>> pop(int64_t channel, double timeoutSeconds);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<int64_t, std::deque<std::vector<std::string>>> queues;
};

/// The device and resources with which a program is executed.
struct ExecutionTarget {
  ThreadPool *pool = nullptr;
  std::shared_ptr<Allocator> allocator;
  RunContext *context = nullptr; ///< required when plan.meetsOthers
  HostChannels *channels = nullptr;
  uint32_t replica = 0, partition = 0, device = 0;
  double timeoutSeconds = RunContext::defaultTimeout;
  int64_t run = 0; ///< number of the execution, equal for all its devices
  uint64_t rngSeed = 0; ///< seed of the execution, equal for all its devices
};

/// How an execution divides its arena (Allocator::lend): the arena of its entry function, the stack of its frames, and temporaries for the states of
/// loops that are exchanged.
struct ArenaLayout {
  explicit ArenaLayout(const Plan &plan);
  uint64_t stack = 0, staging = 0; ///< offsets; the entry function's arena comes first
  uint64_t bytes = 0;
};

/// An argument of the entry function: its memory and actual shape.
struct BoundArgument {
  void *data = nullptr;
  const int64_t *dims = nullptr;
};

/// A result. For static shapes the caller sets `data`. For run-time shapes the executor sets `cell` (memory from target.allocator, of `cell.capacity`
/// bytes, which the caller owns from then on) and `dims`.
struct BoundResult {
  void *data = nullptr;
  DynamicCell cell;
  std::vector<int64_t> dims;
};

/// Runs the entry function in `arena`, which has ArenaLayout(plan).bytes bytes. On error the contents of the results are undefined and cells of
/// results are empty.
Status execute(const Plan &plan, void *arena, const ExecutionTarget &target,
               const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results);

/// Returns true if this thread is executing a custom call.
bool insideCustomCall();

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExecutorState.h - State of an execution (private) ------------------===//
// Only the files that implement Executor.h include this: Executor.cpp (frames, values, kernels and copies), ControlSteps.cpp (loops, branches,
// calls), ExchangeSteps.cpp (collectives and transfers), CustomCallSteps.cpp.
#pragma once
#include "runtime/client/Executor.h"
#include "runtime/client/Profile.h"
#include "runtime/client/SizeChecks.h"
#include "runtime/profile/Recorder.h"

#include <list>

namespace millrace::runtime {

/// The frame of one activation of a function.
struct Frame {
  const Function *function = nullptr;
  const Plan::FunctionPlan *plan = nullptr;
  void **pointers = nullptr;
  DynamicCell **cells = nullptr; ///< per slot its cell, or nullptr; the array exists only if plan->hasCells
  DynamicCell *ownCells = nullptr;
  int64_t *dims = nullptr;
  char *arena = nullptr;
};

/// Returns the profile that is being measured, or null.
Profile *measuredProfile();

/// One execution of a program on one device.
class Executor {
public:
  Executor(const Plan &plan, void *memory, const ExecutionTarget &target)
      : plan(plan), program(*plan.program), target(target), stack(static_cast<char *>(memory) + ArenaLayout(plan).stack),
        arena(static_cast<char *>(memory)), staging(static_cast<char *>(memory) + ArenaLayout(plan).staging),
        goesBackward(plan.goesBackward.load(std::memory_order_relaxed)), profile(target.device == 0 ? measuredProfile() : nullptr),
        recorded(profile::isOn() ? plan.info() : nullptr) {
    if (profile) {
      profile->kernels.resize(program.kernels.size());
      profile->pieces.resize(program.kernels.size());
    }
  }

  ~Executor() {
    leaveMeetings(); // also when an exception passes: the memory that other devices read is still valid
    plan.goesBackward.store(goesBackward, std::memory_order_relaxed);
  }

  Status run(const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results);

private:
  // Frames.
  Frame push(uint32_t function, char *arenaBase);
  void pop(const Frame &frame);
  void bindStaticSlots(Frame &frame);
  static void bindViews(Frame &frame, const std::vector<SlotId> &views) {
    for (SlotId id : views) {
      const Slot &view = frame.function->slots[id];
      frame.pointers[id] = static_cast<char *>(frame.pointers[view.index]) + view.offset;
    }
  }
  /// Evaluates dim bindings; `argumentDim(k, axis)` returns actual sizes. Then compares the shapes of all arguments, and evaluates the checks.
  template <typename ArgumentDim>
  Status bindDims(Frame &frame, bool callerHasDims, ArgumentDim argumentDim);

  // Values.
  static int64_t value(const Frame &frame, const Dim &dim) { return dim.isRuntime ? frame.dims[dim.value] : dim.value; }
  StatusOr<int64_t> value(const Frame &frame, const DimExpr &expr) const;
  Status check(const Frame &frame, const std::vector<SizeCheck> &checks);
  static Status bytesOf(const Frame &frame, SlotId id, uint64_t &bytes);
  Status prepareOutput(Frame &frame, SlotId id);
  Status view(const Frame &frame, SlotId id, TensorView &result) const;
  Status views(const Frame &frame, const std::vector<SlotId> &ids, std::vector<TensorView> &result) const;
  static int64_t loadInteger(const Slot &slot, const void *data, uint64_t element);

  // Steps.
  Status runSteps(Frame &frame, const Steps &steps, const std::vector<std::vector<SlotId>> *freeAfter = nullptr);
  Status runMeasured(Frame &frame, const Step &step);
  Status runRecorded(Frame &frame, const Step &step);
  void leaveMeetings();
  Status runStep(Frame &frame, const KernelStep &s);
  Status runStep(Frame &frame, const LoopStep &s);
  Status runStep(Frame &frame, const CondStep &s);
  Status runStep(Frame &frame, const CallStep &s);
  Status runStep(Frame &frame, const CopyStep &s);
  Status runStep(Frame &frame, const FillStep &s);
  Status runStep(Frame &frame, const SetDimsStep &s);
  Status runStep(Frame &frame, const CollectiveStep &s);
  Status runStep(Frame &frame, const CustomCallStep &s);
  Status runStep(Frame &frame, const DeviceIdStep &s);
  Status runStep(Frame &frame, const TransferStep &s);
  Status carry(Frame &frame, const LoopStep &s, const Plan::Loop &loop);
  Status runSmallLoop(Frame &frame, const LoopStep &s, const Plan::Loop &loop);
  static void bringHome(Frame &frame, const std::vector<SlotId> &slots, uint64_t turns);
  int64_t backwardStep(const KernelStep &s, int64_t end);
  Status kernelError(const KernelStep &s, int32_t code) const;
  std::string_view where() const { return locationOf(program, location); }

  const Plan &plan;
  const Program &program;
  const ExecutionTarget &target;
  uint64_t seedsDrawn = 0; ///< number of seeds that RandomSeed steps have drawn
  struct PendingCollective {
    CollectiveCall call; ///< other devices read it, so that its address must not change
    const Function *function;
    std::shared_ptr<RunContext::Meeting> meeting; ///< null if the collective is complete
  };
  std::list<PendingCollective> pending;
  char *stack;
  char *arena;
  char *staging;
  bool goesBackward; ///< direction of the next kernel that streams through memory
  Profile *profile; ///< null if the execution is not measured
  const profile::ProgramInfo *recorded; ///< null if the execution is not recorded
  uint64_t turnsOfLoop = 0; ///< iterations of the loop that ended last
  uint32_t location = kNone;
  unsigned openLoops = 0; ///< number of enclosing loops; not maintained after an error, which ends the run
};

template <typename ArgumentDim>
Status Executor::bindDims(Frame &frame, bool callerHasDims, ArgumentDim argumentDim) {
  const Function &f = *frame.function;
  if (f.numDims == 0 && !callerHasDims && f.checks.empty())
    return Status();
  for (const DimBinding &b : f.dimBindings) {
    if (b.argument != kNone) {
      frame.dims[b.dim] = argumentDim(b.argument, b.axis);
    } else {
      StatusOr<int64_t> size = value(frame, b.expr);
      if (!size)
        return size.status();
      frame.dims[b.dim] = *size;
    }
  }
  for (size_t k = 0; k < f.arguments.size(); ++k) {
    const Slot &slot = f.slots[f.arguments[k]];
    for (size_t axis = 0; axis < slot.dims.size(); ++axis)
      if (value(frame, slot.dims[axis]) != argumentDim(k, axis))
        return wrongSize(program, f, k, axis, value(frame, slot.dims[axis]), argumentDim(k, axis));
  }
  return check(frame, f.checks);
}

} // namespace millrace::runtime

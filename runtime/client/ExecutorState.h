// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExecutorState.h - What the steps of a program share ----------------===//
// Of the files that implement Executor.h only: Executor.cpp (frames, values, kernels and copies), ControlSteps.cpp (loops, branches, calls),
// ExchangeSteps.cpp (collectives and transfers), CustomCallSteps.cpp.
#pragma once
#include "runtime/client/Executor.h"
#include "runtime/client/Profile.h"
#include "runtime/profile/Recorder.h"

#include <list>

namespace millrace::runtime {

/// One activation of a function.
struct Frame {
  const Function *function = nullptr;
  const Plan::FunctionPlan *plan = nullptr;
  void **pointers = nullptr;
  DynamicCell **cells = nullptr; ///< nullptr where the slot is no cell; the array exists only if plan->hasCells
  DynamicCell *ownCells = nullptr;
  int64_t *dims = nullptr;
  char *arena = nullptr;
};

/// The profile that is being filled, or null.
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
    leaveMeetings(); // where an exception passes by: the memory that others read is still there
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
  /// Evaluates dim bindings; `argumentDim(k, axis)` gives actual sizes. Then compares all argument shapes.
  template <typename ArgumentDim>
  Status bindDims(Frame &frame, bool callerHasDims, ArgumentDim argumentDim);

  // Values.
  static int64_t value(const Frame &frame, const Dim &dim) { return dim.isRuntime ? frame.dims[dim.value] : dim.value; }
  StatusOr<int64_t> value(const Frame &frame, const DimExpr &expr) const;
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
  std::string_view where() const {
    return location < program.locations.size() ? std::string_view(program.locations[location]) : std::string_view();
  }

  const Plan &plan;
  const Program &program;
  const ExecutionTarget &target;
  uint64_t seedsDrawn = 0; ///< by RandomSeed steps so far
  struct PendingCollective {
    CollectiveCall call; ///< others read it: it stays where it is
    const Function *function;
    std::shared_ptr<RunContext::Meeting> meeting; ///< null: done already
  };
  std::list<PendingCollective> pending;
  char *stack;
  char *arena;
  char *staging;
  bool goesBackward; ///< the next kernel that streams through memory
  Profile *profile; ///< null: not measured
  const profile::ProgramInfo *recorded; ///< null: not recorded
  uint64_t turnsOfLoop = 0; ///< that ended last
  uint32_t location = kNone;
  unsigned openLoops = 0; ///< an error ends the run: nobody counts on it then
};

template <typename ArgumentDim>
Status Executor::bindDims(Frame &frame, bool callerHasDims, ArgumentDim argumentDim) {
  const Function &f = *frame.function;
  if (f.numDims == 0 && !callerHasDims)
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
        return invalidArgument("expects argument " + std::to_string(k) + " dimension " + std::to_string(axis) +
                               " to be " + std::to_string(value(frame, slot.dims[axis])) + ", but got " +
                               std::to_string(argumentDim(k, axis)));
  }
  return Status();
}

} // namespace millrace::runtime

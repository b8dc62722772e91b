// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallLoop.h - Loops of small kernels on one thread -----------------===//
#pragma once
#include "runtime/loader/Loader.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::runtime {

/// A loop of static shapes whose steps are copies and kernels too small to be shared by threads, as a list of calls whose addresses are computed once
/// when the loop begins. If slots exchange their addresses, the list covers as many iterations as it takes until every slot has its own address
/// again.
struct SmallLoop {
  struct Call {
    const KernelSlot *kernel = nullptr; ///< null for a copy from the first place to the second
    uint32_t firstPlace = 0;
    int64_t count = 0;                 ///< iterations of the kernel, or bytes of the copy
    const Step *step = nullptr;        ///< the step that errors are attributed to; null for the loop's own copies
  };
  static constexpr SlotId scratch = kNone; ///< marks the place of scratch memory, which is no slot
  std::vector<SlotId> places;              ///< the slots of all calls, call by call
  uint32_t predicate = 0;                  ///< index into `places` of the predicate
  std::vector<Call> cond, body;
  uint64_t scratchBytes = 0;
  uint32_t period = 1; ///< iterations after which all slots have their own addresses
};

/// The pairs of a loop that are copied at the end of an iteration, and the number of iterations until exchanged addresses are back in their slots.
struct LoopCopies {
  std::vector<LoopStep::Carried> copies;
  uint32_t period = 1;
};

/// Returns nothing if threads share a step, if shapes are known at run time only, or if there is another kind of step.
std::optional<SmallLoop> planSmallLoop(const Program &program, const LoadedCode &code, const Function &function, const LoopStep &loop,
                                       const LoopCopies &carried);

/// Returns true for a kernel with so many bytes and so few operations per byte that it should begin where the last kernel ended, whose last data is
/// in the caches.
bool streams(const Kernel &kernel);

} // namespace millrace::runtime

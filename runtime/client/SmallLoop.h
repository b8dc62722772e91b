// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallLoop.h - Loops of kernels that one thread runs -----------------===//
#pragma once
#include "runtime/loader/Loader.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::runtime {

/// A loop of static shapes whose steps are copies and kernels too small to be shared by threads: a list of calls, whose addresses are looked
/// up once when the loop begins. Where slots exchange theirs, that is done for as many iterations as it takes until all have their own again.
struct SmallLoop {
  struct Call {
    const KernelSlot *kernel = nullptr; ///< null: a copy from the first place to the second
    uint32_t firstPlace = 0;
    int64_t count = 0;                 ///< iterations, or bytes
    const Step *step = nullptr;        ///< whose error it is; null: the loop's own copies
  };
  static constexpr SlotId scratch = kNone; ///< a place that is no slot
  std::vector<SlotId> places;              ///< of all calls, one call's after the other's
  uint32_t predicate = 0;                  ///< its place
  std::vector<Call> cond, body;
  uint64_t scratchBytes = 0;
  uint32_t period = 1; ///< iterations after which all slots have their own addresses
};

/// Pairs of a loop that are copied at the end of an iteration, and how many iterations it takes until those that exchange addresses have their own.
struct LoopCopies {
  std::vector<LoopStep::Carried> copies;
  uint32_t period = 1;
};

/// None where threads share a step, shapes are known at run time only, or another kind of step is there.
std::optional<SmallLoop> planSmallLoop(const Program &program, const LoadedCode &code, const Function &function, const LoopStep &loop,
                                       const LoopCopies &carried);

/// A kernel that touches so many bytes, for so few operations each, that it should begin where the last one ended.
bool streams(const Kernel &kernel);

} // namespace millrace::runtime

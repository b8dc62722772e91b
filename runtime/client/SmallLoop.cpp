// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallLoop.cpp - Which loops are a list of calls --------------------===//
#include "runtime/client/SmallLoop.h"

#include "runtime/base/Machine.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

/// Threads share longer copies, so a loop with one is not small. Unit: bytes. Source: judgement, not measured alone; commit 562f01d has the figures
/// of the whole change.
constexpr uint64_t kMaxCopyBytes = 256 << 10;
/// A small loop has at most so many pointers, which are on the stack. Unit: pointers. Source: judgement, not measured alone; commit 562f01d has the
/// figures of the whole change.
constexpr size_t kMaxPlaces = 2048;

class Planner {
public:
  Planner(const Program &program, const LoadedCode &code, const Function &function) : program(program), code(code), function(function) {}

  bool add(const Steps &steps, std::vector<SmallLoop::Call> &calls) {
    return std::all_of(steps.begin(), steps.end(), [&](const Step &step) {
      if (const auto *kernel = std::get_if<KernelStep>(&step.body))
        return add(*kernel, step, calls);
      if (const auto *copy = std::get_if<CopyStep>(&step.body))
        return add(copy->source, copy->destination, &step, calls);
      return false;
    });
  }

  bool add(SlotId from, SlotId to, const Step *step, std::vector<SmallLoop::Call> &calls) {
    const Slot &source = function.slots[from], &target = function.slots[to];
    if (!hasOneAddress(from) || !hasOneAddress(to) || source.bytes != target.bytes || source.bytes > kMaxCopyBytes)
      return false;
    if (source.bytes)
      calls.push_back({nullptr, place({from, to}), int64_t(source.bytes), step});
    return true;
  }

  /// Returns true if the slot has its memory before the loop begins and keeps it unless a rotation exchanges it.
  bool hasOneAddress(SlotId id) const {
    const Slot &slot = function.slots[id];
    return slot.kind != Slot::Kind::Dynamic && slot.isStatic() && (slot.kind != Slot::Kind::View || hasOneAddress(slot.index));
  }

  uint32_t place(const std::vector<SlotId> &slots) {
    uint32_t first = uint32_t(loop.places.size());
    loop.places.insert(loop.places.end(), slots.begin(), slots.end());
    return first;
  }

  SmallLoop loop;

private:
  bool add(const KernelStep &s, const Step &step, std::vector<SmallLoop::Call> &calls) {
    if (!s.dims.empty() || !s.end.isConstant() || streams(program.kernels[s.kernel]))
      return false;
    int64_t count = s.end.terms[0].value;
    // The size of pieces if any number of threads were awake: a kernel that would still be one piece gains nothing from threads.
    if (pieceSize(count, s.picosecondsPerIteration, s.granularity, ~0u, ThreadPool::leastPieceAwake) < count)
      return false;
    if (count <= 0)
      return true;
    std::vector<SlotId> slots(s.inputs);
    slots.insert(slots.end(), s.outputs.begin(), s.outputs.end());
    if (!std::all_of(slots.begin(), slots.end(), [&](SlotId id) { return hasOneAddress(id); }))
      return false;
    if (s.scratchBytes)
      slots.push_back(SmallLoop::scratch);
    loop.scratchBytes = std::max(loop.scratchBytes, s.scratchBytes);
    calls.push_back({&code.slot(s.kernel), place(slots), count, &step});
    return true;
  }

  const Program &program;
  const LoadedCode &code;
  const Function &function;
};

} // namespace

bool streams(const Kernel &kernel) {
  // A kernel streams if its operands and results exceed the core's second-level cache, which holds their last parts when the next kernel begins.
  static const double minStreamedBytes = double(Machine::host().cacheBytes(2));
  // A kernel with more operations per byte is not limited by memory. Unit: operations per byte. Source: judgement, not measured alone; commit e293187
  // has the figures of the whole change.
  constexpr double kMaxStreamedWork = 16;
  return kernel.bytesAccessed >= minStreamedBytes && kernel.flops <= kMaxStreamedWork * kernel.bytesAccessed;
}

std::optional<SmallLoop> planSmallLoop(const Program &program, const LoadedCode &code, const Function &function, const LoopStep &loop,
                                       const LoopCopies &carried) {
  Planner planner(program, code, function);
  if (!planner.add(loop.cond, planner.loop.cond) || !planner.add(loop.body, planner.loop.body))
    return std::nullopt;
  for (const LoopStep::Carried &pair : carried.copies)
    if (!planner.add(pair.next, pair.state, nullptr, planner.loop.body))
      return std::nullopt;
  if (!planner.hasOneAddress(loop.predicate))
    return std::nullopt;
  planner.loop.predicate = planner.place({loop.predicate});
  planner.loop.period = carried.period;
  if (carried.period > kMaxPlaces || planner.loop.places.size() * std::max(1u, carried.period / 2) > kMaxPlaces)
    return std::nullopt;
  return std::move(planner.loop);
}

} // namespace millrace::runtime

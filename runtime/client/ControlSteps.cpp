// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlSteps.cpp - Loops, branches and calls -----------------------===//
#include "runtime/base/Alignment.h"
#include "runtime/client/ExecutorState.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace millrace::runtime {

/// Gives each slot the memory of the next slot, and the last slot that of the first.
static void rotate(void **pointers, const std::vector<SlotId> &slots) {
  void *first = pointers[slots.front()];
  for (size_t i = 0; i + 1 < slots.size(); ++i)
    pointers[slots[i]] = pointers[slots[i + 1]];
  pointers[slots.back()] = first;
}

/// Gives slots that have rotated `turns` times their own memory again, and moves their contents there, block by block: all of the memory is in use.
void Executor::bringHome(Frame &frame, const std::vector<SlotId> &slots, uint64_t turns) {
  size_t count = slots.size(), distance = turns % count, bytes = frame.function->slots[slots.front()].bytes;
  if (distance == 0)
    return;
  char block[4096];
  auto at = [&](size_t slot, size_t offset) { return static_cast<char *>(frame.pointers[slots[slot]]) + offset; };
  for (size_t offset = 0; offset < bytes; offset += sizeof(block)) {
    size_t size = std::min(sizeof(block), bytes - offset);
    for (size_t start = 0, cycles = std::gcd(count, distance); start < cycles; ++start) {
      std::memcpy(block, at(start, offset), size);
      size_t to = start;
      for (size_t from; (from = (to + distance) % count) != start; to = from)
        std::memcpy(at(to, offset), at(from, offset), size);
      std::memcpy(at(to, offset), block, size);
    }
  }
}

Status Executor::runStep(Frame &frame, const LoopStep &s) {
  const Plan::Loop &loop = plan.loops.find(&s)->second;
  if (loop.small && !profile)
    return runSmallLoop(frame, s, loop);
  uint32_t here = location;
  uint64_t turns = 0;
  ++openLoops;
  while (true) {
    MILLRACE_TRY(runSteps(frame, s.cond));
    void *predicate = frame.pointers[s.predicate];
    if (!predicate)
      return internalError("the loop predicate is read before it is written");
    if (*static_cast<const uint8_t *>(predicate) == 0)
      break;
    MILLRACE_TRY(runSteps(frame, s.body));
    MILLRACE_TRY(carry(frame, s, loop));
    ++turns;
    if (target.context)
      target.context->tick(target.replica * target.context->numPartitions + target.partition);
  }
  --openLoops;
  location = here;
  turnsOfLoop = turns;
  // Every static slot gets its own address back.
  if (turns % 2)
    for (size_t i = 0; i < s.carried.size(); ++i)
      if (loop.carries[i] == Plan::Loop::Carry::Swap && !(frame.cells && frame.cells[s.carried[i].state])) {
        void *&state = frame.pointers[s.carried[i].state], *&next = frame.pointers[s.carried[i].next];
        std::memcpy(next, state, frame.function->slots[s.carried[i].state].bytes);
        std::swap(state, next);
      }
  for (const std::vector<SlotId> &slots : loop.rotations) {
    for (size_t left = (slots.size() - turns % slots.size()) % slots.size(); left; --left)
      rotate(frame.pointers, slots);
    bringHome(frame, slots, turns);
  }
  if (turns % 2 || !loop.rotations.empty())
    bindViews(frame, loop.views);
  return Status();
}

/// Runs the calls. Returns the code of the one that failed, and its step.
static int32_t runCalls(const std::vector<SmallLoop::Call> &calls, void **places, const Step *&step) {
  for (const SmallLoop::Call &call : calls) {
    void **own = places + call.firstPlace;
    if (!call.kernel) {
      std::memmove(own[1], own[0], size_t(call.count));
    } else if (int32_t code = call.kernel->load(std::memory_order_acquire)(own, nullptr, 0, call.count)) [[unlikely]] {
      step = call.step;
      return code;
    }
  }
  return kKernelOk;
}

Status Executor::runSmallLoop(Frame &frame, const LoopStep &s, const Plan::Loop &loop) {
  const SmallLoop &small = *loop.small;
  size_t count = small.places.size();
  void *scratch = small.scratchBytes ? threadScratch(small.scratchBytes) : nullptr;
  if (small.scratchBytes && !scratch)
    return resourceExhausted("no memory for the scratch of a loop's kernels");
  auto exchange = [&] {
    for (size_t i = 0; i < s.carried.size(); ++i)
      if (loop.carries[i] == Plan::Loop::Carry::Swap)
        std::swap(frame.pointers[s.carried[i].state], frame.pointers[s.carried[i].next]);
    for (const std::vector<SlotId> &slots : loop.rotations)
      rotate(frame.pointers, slots);
    bindViews(frame, loop.views);
  };
  void **tables = static_cast<void **>(__builtin_alloca(small.period * count * sizeof(void *)));
  auto lookUp = [&](void **places) {
    for (size_t i = 0; i < count; ++i)
      places[i] = small.places[i] == SmallLoop::scratch ? scratch : frame.pointers[small.places[i]];
  };
  lookUp(tables);
  for (uint32_t i = 1; i < small.period; ++i) {
    exchange();
    lookUp(tables + i * count);
  }
  if (small.period > 1)
    exchange();
  uint64_t turns = 0;
  uint32_t phase = 0; // turns modulo the period
  const Step *failed = nullptr;
  while (true) {
    void **now = tables + phase * count;
    int32_t code = runCalls(small.cond, now, failed);
    if (code == kKernelOk) {
      if (*static_cast<const uint8_t *>(now[small.predicate]) == 0)
        break;
      code = runCalls(small.body, now, failed);
    }
    if (code != kKernelOk) [[unlikely]] {
      location = failed->location;
      return kernelError(std::get<KernelStep>(failed->body), code);
    }
    ++turns;
    phase = phase + 1 == small.period ? 0 : phase + 1;
    if (target.context)
      target.context->tick(target.replica * target.context->numPartitions + target.partition);
  }
  turnsOfLoop = turns;
  if (turns % 2) // the states' values are in the memory of the next values
    for (size_t i = 0; i < s.carried.size(); ++i)
      if (loop.carries[i] == Plan::Loop::Carry::Swap)
        std::memcpy(frame.pointers[s.carried[i].state], frame.pointers[s.carried[i].next], frame.function->slots[s.carried[i].state].bytes);
  for (const std::vector<SlotId> &slots : loop.rotations)
    bringHome(frame, slots, turns);
  return Status();
}

/// All sizes and dimensions of the next values are read before any state changes, because pairs may permute each other.
Status Executor::carry(Frame &frame, const LoopStep &s, const Plan::Loop &loop) {
  using Carry = Plan::Loop::Carry;
  const std::vector<Slot> &slots = frame.function->slots;
  size_t count = s.carried.size();
  uint64_t *sizes = static_cast<uint64_t *>(__builtin_alloca(count * sizeof(uint64_t)));
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    sizes[i] = 0;
    if (loop.carries[i] == Carry::Copy)
      MILLRACE_TRY(bytesOf(frame, s.carried[i].next, sizes[i]));
    total += alignedBytes(sizes[i]);
  }
  std::string grown; // the plan knows the staging size for static shapes only
  char *area = staging;
  if (loop.staged) {
    if (loop.hasDims) {
      grown.resize(total);
      area = grown.data();
    }
    char *at = area;
    for (size_t i = 0; i < count; at += alignedBytes(sizes[i]), ++i)
      if (sizes[i])
        std::memcpy(at, frame.pointers[s.carried[i].next], sizes[i]);
  }
  if (loop.hasDims) {
    size_t ranks = 0;
    for (const LoopStep::Carried &c : s.carried)
      ranks += slots[c.next].dims.size();
    int64_t *sizesOfDims = static_cast<int64_t *>(__builtin_alloca(ranks * sizeof(int64_t)));
    int64_t *at = sizesOfDims;
    for (const LoopStep::Carried &c : s.carried)
      for (const Dim &d : slots[c.next].dims)
        *at++ = value(frame, d);
    at = sizesOfDims;
    for (const LoopStep::Carried &c : s.carried)
      for (const Dim &d : slots[c.state].dims) {
        if (d.isRuntime)
          frame.dims[d.value] = *at;
        ++at;
      }
  }
  char *at = area;
  for (size_t i = 0; i < count; at += alignedBytes(sizes[i]), ++i) {
    SlotId state = s.carried[i].state, next = s.carried[i].next;
    if (loop.carries[i] == Carry::Copy) {
      if (frame.cells)
        MILLRACE_TRY(prepareOutput(frame, state));
      if (sizes[i])
        std::memmove(frame.pointers[state], loop.staged ? at : frame.pointers[next], sizes[i]);
    } else if (loop.carries[i] == Carry::Swap) {
      // The contents of the cells are exchanged, not the cells, because one of them may belong to the caller.
      if (frame.cells && frame.cells[state])
        std::swap(*frame.cells[state], *frame.cells[next]);
      std::swap(frame.pointers[state], frame.pointers[next]);
    }
  }
  for (const std::vector<SlotId> &slots : loop.rotations)
    rotate(frame.pointers, slots);
  bindViews(frame, loop.views);
  return Status();
}

Status Executor::runStep(Frame &frame, const CondStep &s) {
  const void *data = frame.pointers[s.index];
  if (!data)
    return internalError("the branch index is read before it is written");
  const Slot &slot = frame.function->slots[s.index];
  int64_t index = loadInteger(slot, data, 0);
  if (slot.dtype == DType::I1)
    index = index ? 0 : 1;
  else if (index < 0 || index >= int64_t(s.branches.size()))
    index = int64_t(s.branches.size()) - 1;
  return runSteps(frame, s.branches[size_t(index)]);
}

Status Executor::runStep(Frame &frame, const CallStep &s) {
  uint32_t here = location;
  const Function &callee = program.functions[s.function];
  Frame inner = push(s.function, frame.arena + s.arenaOffset);
  Status status = [&]() -> Status {
    for (size_t i = 0; i < s.arguments.size(); ++i)
      inner.pointers[callee.arguments[i]] = frame.pointers[s.arguments[i]];
    for (size_t i = 0; i < s.results.size(); ++i) {
      SlotId mine = s.results[i], theirs = callee.results[i];
      DynamicCell *cell = frame.cells ? frame.cells[mine] : nullptr;
      if (inner.plan->isCell[theirs]) {
        inner.cells[theirs] = cell; // the validator has checked that the caller's slot has a run-time shape or is dynamic
        inner.pointers[theirs] = nullptr;
        continue;
      }
      if (cell) {
        // The callee knows the shape, which sizes the memory.
        const Slot &outerSlot = frame.function->slots[mine], &innerSlot = callee.slots[theirs];
        for (size_t d = 0; d < outerSlot.dims.size(); ++d)
          if (outerSlot.dims[d].isRuntime)
            frame.dims[outerSlot.dims[d].value] = innerSlot.dims[d].value;
        MILLRACE_TRY(prepareOutput(frame, mine));
      }
      inner.pointers[theirs] = frame.pointers[mine];
    }
    bindStaticSlots(inner);
    MILLRACE_TRY(bindDims(inner, frame.function->numDims != 0, [&](size_t k, size_t axis) {
      return value(frame, frame.function->slots[s.arguments[k]].dims[axis]);
    }));
    MILLRACE_TRY(runSteps(inner, callee.steps, inner.cells ? &inner.plan->freeAfter : nullptr));
    for (size_t i = 0; i < s.results.size(); ++i) {
      const Slot &outerSlot = frame.function->slots[s.results[i]], &innerSlot = callee.slots[callee.results[i]];
      for (size_t d = 0; d < outerSlot.dims.size(); ++d)
        if (outerSlot.dims[d].isRuntime)
          frame.dims[outerSlot.dims[d].value] = value(inner, innerSlot.dims[d]);
        else if (outerSlot.dims[d].value != value(inner, innerSlot.dims[d]))
          return invalidArgument("result " + std::to_string(i) + " of '" + callee.name + "' has size " +
                                 std::to_string(value(inner, innerSlot.dims[d])) + " in dimension " +
                                 std::to_string(d) + ", expected " + std::to_string(outerSlot.dims[d].value));
      if (frame.cells && frame.cells[s.results[i]])
        frame.pointers[s.results[i]] = frame.cells[s.results[i]]->data;
    }
    return Status();
  }();
  pop(inner);
  if (!status.ok())
    return status; // `location` remains that of the failing step
  location = here;
  return status;
}

} // namespace millrace::runtime

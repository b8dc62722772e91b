// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executor.cpp - Runs the steps of a program on one device ------------===//
// A Frame is one activation of a function: slot addresses, cells of slots with run-time shape, dims. Frames lie on a
// stack in the workspace, so neither calls nor loop iterations allocate; only growing cells do.
#include "runtime/client/Executor.h"

#include "runtime/base/Hash.h"
#include "runtime/client/Profile.h"
#include "runtime/client/Relayout.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <list>

namespace millrace::runtime {

void HostChannels::push(int64_t channel, std::vector<std::string> tensors) {
  {
    std::lock_guard lock(mutex);
    queues[channel].push_back(std::move(tensors));
  }
  changed.notify_all();
}

StatusOr<std::vector<std::string>> HostChannels::pop(int64_t channel, double timeoutSeconds) {
  std::unique_lock lock(mutex);
  auto &queue = queues[channel];
  if (!changed.wait_for(lock, std::chrono::duration<double>(timeoutSeconds), [&] { return !queue.empty(); }))
    return deadlineExceeded("nothing arrived on channel " + std::to_string(channel));
  std::vector<std::string> tensors = std::move(queue.front());
  queue.pop_front();
  return tensors;
}

namespace {

struct Frame {
  const Function *function = nullptr;
  const Plan::FunctionPlan *plan = nullptr;
  void **pointers = nullptr;
  DynamicCell **cells = nullptr; ///< nullptr where the slot is no cell; the array exists only if plan->hasCells
  DynamicCell *ownCells = nullptr;
  int64_t *dims = nullptr;
  char *arena = nullptr;
};

} // namespace

static std::atomic<Profile *> activeProfile{nullptr};
ProfileScope::ProfileScope(Profile &profile) { activeProfile.store(&profile); }
ProfileScope::~ProfileScope() { activeProfile.store(nullptr); }

class Executor {
public:
  Executor(const Plan &plan, Workspace &workspace, const ExecutionTarget &target)
      : plan(plan), program(*plan.program), target(target), stack(static_cast<char *>(workspace.stack->data())),
        arena(static_cast<char *>(workspace.arena->data())), staging(static_cast<char *>(workspace.staging->data())),
        profile(target.device == 0 ? activeProfile.load() : nullptr) {
    if (profile)
      profile->kernels.resize(program.kernels.size());
  }

  ~Executor() { leaveMeetings(); } // where an exception passes by: the memory that others read is still there

  Status run(const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results);

private:
  // Frames.
  Frame push(uint32_t function, char *arenaBase);
  void pop(const Frame &frame);
  void bindStaticSlots(Frame &frame);
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
  Profile *profile; ///< null: not measured
  uint32_t location = kNone;
  unsigned openLoops = 0; ///< an error ends the run: nobody counts on it then
};

//===--- Frames ------------------------------------------------------------===//

Frame Executor::push(uint32_t index, char *arenaBase) {
  Frame frame;
  frame.function = &program.functions[index];
  frame.plan = &plan.functions[index];
  frame.arena = arenaBase;
  char *at = stack;
  stack += frame.plan->frameBytes;
  size_t slots = frame.function->slots.size();
  frame.pointers = reinterpret_cast<void **>(at);
  at += slots * sizeof(void *);
  if (frame.plan->hasCells) {
    frame.cells = reinterpret_cast<DynamicCell **>(at);
    at += slots * sizeof(DynamicCell *);
    frame.ownCells = reinterpret_cast<DynamicCell *>(at);
    at += slots * sizeof(DynamicCell);
    for (size_t i = 0; i < slots; ++i) {
      frame.ownCells[i] = DynamicCell();
      frame.cells[i] = frame.plan->isCell[i] ? &frame.ownCells[i] : nullptr;
    }
  }
  frame.dims = reinterpret_cast<int64_t *>(at);
  std::fill_n(frame.dims, frame.function->numDims, 0);
  return frame;
}

void Executor::pop(const Frame &frame) {
  stack = reinterpret_cast<char *>(frame.pointers);
  if (!frame.cells)
    return;
  for (size_t i = 0; i < frame.function->slots.size(); ++i)
    if (frame.ownCells[i].data)
      target.allocator->deallocate(frame.ownCells[i].data, frame.ownCells[i].capacity);
}

/// Arguments and static results are set by the caller before.
void Executor::bindStaticSlots(Frame &frame) {
  const std::vector<Slot> &slots = frame.function->slots;
  bool hasViews = false;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &s = slots[i];
    switch (s.kind) {
    case Slot::Kind::Constant:
      frame.pointers[i] = const_cast<uint8_t *>(program.constants[s.index].data);
      break;
    case Slot::Kind::Arena:
      frame.pointers[i] = frame.arena + s.offset;
      break;
    case Slot::Kind::Dynamic:
      frame.pointers[i] = nullptr;
      break;
    case Slot::Kind::View:
      hasViews = true;
      break;
    case Slot::Kind::Argument:
    case Slot::Kind::Result:
      break;
    }
  }
  if (hasViews)
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i].kind == Slot::Kind::View)
        frame.pointers[i] = static_cast<char *>(frame.pointers[slots[i].index]) + slots[i].offset;
}

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

//===--- Values ------------------------------------------------------------===//

StatusOr<int64_t> Executor::value(const Frame &frame, const DimExpr &expr) const {
  using Op = DimExpr::Op;
  if (expr.terms.size() == 1)
    return expr.terms[0].op == Op::Constant ? expr.terms[0].value : frame.dims[expr.terms[0].value];
  int64_t values[33];
  size_t depth = 0;
  for (const DimExpr::Term &t : expr.terms) {
    if (t.op == Op::Constant || t.op == Op::Dim) {
      values[depth++] = t.op == Op::Constant ? t.value : frame.dims[t.value];
      continue;
    }
    int64_t b = values[--depth], a = values[depth - 1], r = 0;
    bool bad = false;
    switch (t.op) {
    case Op::Add: bad = __builtin_add_overflow(a, b, &r); break;
    case Op::Sub: bad = __builtin_sub_overflow(a, b, &r); break;
    case Op::Mul: bad = __builtin_mul_overflow(a, b, &r); break;
    case Op::FloorDiv:
    case Op::CeilDiv:
    case Op::Mod:
      if (b <= 0) {
        bad = true;
      } else {
        int64_t quotient = a / b, rest = a % b;
        int64_t floor = rest < 0 ? quotient - 1 : quotient;
        r = t.op == Op::FloorDiv ? floor : t.op == Op::Mod ? a - floor * b : rest > 0 ? quotient + 1 : quotient;
      }
      break;
    case Op::Min: r = std::min(a, b); break;
    case Op::Max: r = std::max(a, b); break;
    default: break;
    }
    if (bad)
      return invalidArgument("the size of a dimension overflows or divides by a number that is not positive");
    values[depth - 1] = r;
  }
  return values[0];
}

Status Executor::bytesOf(const Frame &frame, SlotId id, uint64_t &bytes) {
  const Slot &slot = frame.function->slots[id];
  if (slot.bytes) {
    bytes = slot.bytes;
    return Status();
  }
  unsigned __int128 product = byteSize(slot.dtype);
  for (const Dim &d : slot.dims) {
    int64_t size = value(frame, d);
    if (size < 0)
      return invalidArgument("a dimension has size " + std::to_string(size));
    product *= uint64_t(size);
    if (product > (uint64_t(1) << 46))
      return resourceExhausted("a value with run-time shape is too large");
  }
  bytes = uint64_t(product);
  return Status();
}

Status Executor::prepareOutput(Frame &frame, SlotId id) {
  DynamicCell *cell = frame.cells[id];
  if (!cell)
    return Status();
  uint64_t bytes;
  MILLRACE_TRY(bytesOf(frame, id, bytes));
  if (!cell->data || cell->capacity < bytes) {
    if (cell->data)
      target.allocator->deallocate(cell->data, cell->capacity);
    *cell = DynamicCell();
    StatusOr<void *> data = target.allocator->allocate(bytes);
    if (!data)
      return data.status();
    *cell = {*data, bytes};
  }
  frame.pointers[id] = cell->data;
  return Status();
}

Status Executor::view(const Frame &frame, SlotId id, TensorView &result) const {
  const Slot &slot = frame.function->slots[id];
  result.data = frame.pointers[id];
  result.dtype = slot.dtype;
  result.dims.clear();
  for (const Dim &d : slot.dims)
    result.dims.push_back(value(frame, d));
  if (!result.data && result.bytes() != 0)
    return internalError("slot " + std::to_string(id) + " of function '" + frame.function->name +
                         "' is read before it is written");
  return Status();
}

Status Executor::views(const Frame &frame, const std::vector<SlotId> &ids, std::vector<TensorView> &result) const {
  result.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    MILLRACE_TRY(view(frame, ids[i], result[i]));
  return Status();
}

int64_t Executor::loadInteger(const Slot &slot, const void *data, uint64_t element) {
  size_t bytes = byteSize(slot.dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char *>(data) + element * bytes, bytes);
  if (isSigned(slot.dtype) && bytes < 8)
    return int64_t(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);
  return int64_t(bits);
}

//===--- Steps -------------------------------------------------------------===//

Status Executor::runSteps(Frame &frame, const Steps &steps, const std::vector<std::vector<SlotId>> *freeAfter) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    location = step.location;
    // Kernels are the common case: no visit.
    Status status = profile ? runMeasured(frame, step)
                    : step.body.index() == 0
                        ? runStep(frame, *std::get_if<KernelStep>(&step.body))
                        : std::visit([&](const auto &body) { return runStep(frame, body); }, step.body);
    if (!status.ok()) [[unlikely]] {
      leaveMeetings(); // before the memory goes that others read
      return status;
    }
    if (freeAfter)
      for (SlotId id : (*freeAfter)[i]) {
        DynamicCell &cell = frame.ownCells[id];
        if (cell.data)
          target.allocator->deallocate(cell.data, cell.capacity);
        cell = DynamicCell();
        frame.pointers[id] = nullptr;
      }
  }
  return Status();
}

void Executor::leaveMeetings() {
  for (PendingCollective &each : pending)
    if (each.meeting)
      target.context->leave(*each.meeting);
  pending.clear();
}

/// Name of a step in a profile; empty for steps that consist of others.
static std::string profileName(const Step &step) {
  struct Namer {
    std::string operator()(const KernelStep &) { return "kernel"; }
    std::string operator()(const LoopStep &) { return ""; }
    std::string operator()(const CondStep &) { return ""; }
    std::string operator()(const CallStep &) { return ""; }
    std::string operator()(const CopyStep &) { return "copy"; }
    std::string operator()(const FillStep &) { return "fill"; }
    std::string operator()(const SetDimsStep &) { return "set_dims"; }
    std::string operator()(const CollectiveStep &s) {
      return s.phase == CollectiveStep::Phase::Start ? s.name + " start" : s.name;
    }
    std::string operator()(const CustomCallStep &s) { return "custom_call " + s.target; }
    std::string operator()(const DeviceIdStep &) { return "device_id"; }
    std::string operator()(const TransferStep &) { return "transfer"; }
  };
  return std::visit(Namer(), step.body);
}

Status Executor::runMeasured(Frame &frame, const Step &step) {
  auto start = std::chrono::steady_clock::now();
  Status status = std::visit([&](const auto &body) { return runStep(frame, body); }, step.body);
  uint64_t time = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  if (auto *kernel = std::get_if<KernelStep>(&step.body))
    profile->kernels[kernel->kernel].add(time);
  else if (std::string name = profileName(step); !name.empty())
    profile->steps[name].add(time);
  return status;
}

Status Executor::kernelError(const KernelStep &s, int32_t code) const {
  const char *text = code == kKernelOutOfBounds     ? "an index is out of bounds"
                     : code == kKernelOutOfMemory   ? "out of memory"
                     : code == kKernelShapeMismatch ? "shapes do not match"
                                                    : "unknown reason";
  const Kernel &kernel = program.kernels[s.kernel];
  return Status(code == kKernelOutOfMemory ? Code::ResourceExhausted : Code::InvalidArgument,
                "kernel '" + (kernel.name.empty() ? kernel.symbol : kernel.name) + "' failed: " + text + " (code " +
                    std::to_string(code) + ")");
}

Status Executor::runStep(Frame &frame, const KernelStep &s) {
  size_t count = s.inputs.size() + s.outputs.size();
  void **buffers = static_cast<void **>(__builtin_alloca((count + 1) * sizeof(void *)));
  if (frame.cells)
    for (SlotId id : s.outputs)
      MILLRACE_TRY(prepareOutput(frame, id));
  size_t n = 0;
  for (SlotId id : s.inputs)
    buffers[n++] = frame.pointers[id];
  for (SlotId id : s.outputs)
    buffers[n++] = frame.pointers[id];
  if (frame.cells)
    for (size_t i = 0; i < s.inputs.size(); ++i)
      if (!buffers[i]) {
        TensorView ignored;
        MILLRACE_TRY(view(frame, s.inputs[i], ignored));
      }
  int64_t *dims = nullptr;
  if (!s.dims.empty()) {
    dims = static_cast<int64_t *>(__builtin_alloca(s.dims.size() * sizeof(int64_t)));
    for (size_t i = 0; i < s.dims.size(); ++i)
      dims[i] = frame.dims[s.dims[i]];
  }
  int64_t end;
  if (s.end.isConstant()) {
    end = s.end.terms[0].value;
  } else {
    StatusOr<int64_t> size = value(frame, s.end);
    if (!size)
      return size.status();
    end = *size;
  }
  if (end <= 0)
    return Status();
  KernelFunction function = plan.code->kernel(s.kernel);
  ThreadPool &pool = *target.pool;
  int64_t piece = pieceSize(end, s.picosecondsPerIteration, s.granularity, pool.size(), pool.leastPiece(openLoops != 0));
  int32_t code;
  if (piece >= end) {
    if (s.scratchBytes && !(buffers[n] = threadScratch(s.scratchBytes)))
      return kernelError(s, kKernelOutOfMemory);
    code = function(buffers, dims, 0, end);
  } else {
    struct Shared {
      KernelFunction function;
      void **buffers;
      const int64_t *dims;
      size_t count;
      uint64_t scratchBytes;
    } shared{function, buffers, dims, n, s.scratchBytes};
    code = pool.run(
        end, piece,
        [](void *context, int64_t begin, int64_t end) -> int32_t {
          const Shared &shared = *static_cast<Shared *>(context);
          if (!shared.scratchBytes)
            return shared.function(shared.buffers, shared.dims, begin, end);
          void **own = static_cast<void **>(__builtin_alloca((shared.count + 1) * sizeof(void *)));
          std::copy_n(shared.buffers, shared.count, own);
          own[shared.count] = threadScratch(shared.scratchBytes);
          if (!own[shared.count])
            return kKernelOutOfMemory;
          return shared.function(own, shared.dims, begin, end);
        },
        &shared);
  }
  return code == 0 ? Status() : kernelError(s, code);
}

Status Executor::runStep(Frame &frame, const LoopStep &s) {
  const Plan::Loop &loop = plan.loops.find(&s)->second;
  uint32_t here = location;
  bool odd = false;
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
    odd = !odd;
    if (target.context)
      target.context->tick(target.replica * target.context->numPartitions + target.partition);
  }
  --openLoops;
  location = here;
  // Give every static slot its own address back.
  if (odd)
    for (size_t i = 0; i < s.carried.size(); ++i)
      if (loop.carries[i] == Plan::Loop::Carry::Swap && !(frame.cells && frame.cells[s.carried[i].state])) {
        void *&state = frame.pointers[s.carried[i].state], *&next = frame.pointers[s.carried[i].next];
        std::memcpy(next, state, frame.function->slots[s.carried[i].state].bytes);
        std::swap(state, next);
      }
  return Status();
}

/// All sizes and dims of the next values are read before any state changes: pairs may permute each other.
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
    total += (sizes[i] + 63) / 64 * 64;
  }
  std::string grown; // the plan knows the staging size of static shapes only
  char *area = staging;
  if (loop.staged) {
    if (loop.hasDims) {
      grown.resize(total);
      area = grown.data();
    }
    char *at = area;
    for (size_t i = 0; i < count; at += (sizes[i] + 63) / 64 * 64, ++i)
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
  for (size_t i = 0; i < count; at += (sizes[i] + 63) / 64 * 64, ++i) {
    SlotId state = s.carried[i].state, next = s.carried[i].next;
    if (loop.carries[i] == Carry::Copy) {
      if (frame.cells)
        MILLRACE_TRY(prepareOutput(frame, state));
      if (sizes[i])
        std::memmove(frame.pointers[state], loop.staged ? at : frame.pointers[next], sizes[i]);
    } else if (loop.carries[i] == Carry::Swap) {
      // The contents of the cells change places, not the cells: one of them may be the caller's.
      if (frame.cells && frame.cells[state])
        std::swap(*frame.cells[state], *frame.cells[next]);
      std::swap(frame.pointers[state], frame.pointers[next]);
    }
  }
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
        inner.cells[theirs] = cell; // validated: the caller's slot has run-time shape or is dynamic
        inner.pointers[theirs] = nullptr;
        continue;
      }
      if (cell) {
        // The callee knows the shape: take it over before memory is needed.
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
    return status; // `location` stays that of the failing step
  location = here;
  return status;
}

/// Large values are copied by several threads: one cannot use what the memory can deliver.
static void copyBytes(ThreadPool &pool, char *to, const char *from, uint64_t bytes) {
  constexpr uint64_t piece = 256 << 10, large = 4 * piece;
  if (bytes < large || (from < to + bytes && to < from + bytes)) {
    std::memmove(to, from, bytes);
    return;
  }
  struct Copy {
    char *to;
    const char *from;
    uint64_t bytes;
  } copy{to, from, bytes};
  pool.run(
      int64_t((bytes + piece - 1) / piece), 1,
      [](void *context, int64_t begin, int64_t end) -> int32_t {
        const Copy &copy = *static_cast<const Copy *>(context);
        uint64_t first = uint64_t(begin) * piece, last = std::min(copy.bytes, uint64_t(end) * piece);
        std::memcpy(copy.to + first, copy.from + first, last - first);
        return 0;
      },
      &copy);
}

Status Executor::runStep(Frame &frame, const CopyStep &s) {
  uint64_t from, to;
  MILLRACE_TRY(bytesOf(frame, s.source, from));
  MILLRACE_TRY(bytesOf(frame, s.destination, to));
  if (from != to)
    return internalError("a copy of " + std::to_string(from) + " bytes into a value of " + std::to_string(to));
  if (frame.cells)
    MILLRACE_TRY(prepareOutput(frame, s.destination));
  if (from && !frame.pointers[s.source])
    return internalError("slot " + std::to_string(s.source) + " is read before it is written");
  if (from)
    copyBytes(*target.pool, static_cast<char *>(frame.pointers[s.destination]), static_cast<const char *>(frame.pointers[s.source]), from);
  return Status();
}

Status Executor::runStep(Frame &frame, const FillStep &s) {
  uint64_t bytes;
  MILLRACE_TRY(bytesOf(frame, s.destination, bytes));
  if (frame.cells)
    MILLRACE_TRY(prepareOutput(frame, s.destination));
  char *data = static_cast<char *>(frame.pointers[s.destination]);
  uint64_t done = std::min<uint64_t>(bytes, s.pattern.size());
  if (done)
    std::memcpy(data, s.pattern.data(), done);
  for (; done < bytes; done *= 2)
    std::memcpy(data + done, data, std::min(done, bytes - done));
  return Status();
}

Status Executor::runStep(Frame &frame, const SetDimsStep &s) {
  for (const SetDimsStep::Entry &e : s.entries) {
    if (e.source == kNone) {
      StatusOr<int64_t> size = value(frame, e.expr);
      if (!size)
        return size.status();
      frame.dims[e.dim] = *size;
      continue;
    }
    const Slot &slot = frame.function->slots[e.source];
    uint64_t bytes;
    MILLRACE_TRY(bytesOf(frame, e.source, bytes));
    if (e.element >= bytes / byteSize(slot.dtype))
      return invalidArgument("a shape operand has no element " + std::to_string(e.element));
    if (!frame.pointers[e.source])
      return internalError("slot " + std::to_string(e.source) + " is read before it is written");
    frame.dims[e.dim] = loadInteger(slot, frame.pointers[e.source], e.element);
  }
  return Status();
}

Status Executor::runStep(Frame &frame, const CollectiveStep &s) {
  // What is done has its results since it was started: others may be writing them.
  if (frame.cells && s.phase != CollectiveStep::Phase::Done)
    for (SlotId id : s.results)
      MILLRACE_TRY(prepareOutput(frame, id));
  if (!target.context)
    return internalError("a collective without a run context");
  std::string_view title = s.name.empty() ? "collective" : std::string_view(s.name);
  if (s.phase == CollectiveStep::Phase::Done) {
    auto found = std::find_if(pending.begin(), pending.end(), [&](const PendingCollective &each) {
      return each.call.step.pair == s.pair && each.function == frame.function;
    });
    if (found == pending.end())
      return internalError("a collective is done before it is started");
    // Once it returns, well or not, nobody reads the call.
    Status status = found->meeting ? finishCollective(*target.context, found->call, *found->meeting) : Status();
    pending.erase(found);
    return status.withContext(title);
  }
  CollectiveCall call{s, {}, {}, s.reducer == kNone ? nullptr : plan.code->kernel(s.reducer), where(),
                      target.replica, target.partition};
  MILLRACE_TRY(views(frame, s.arguments, call.arguments));
  MILLRACE_TRY(views(frame, s.results, call.results));
  if (s.phase == CollectiveStep::Phase::Both)
    return runCollective(*target.context, call).withContext(title);
  PendingCollective &started = pending.emplace_back(PendingCollective{std::move(call), frame.function, nullptr});
  StatusOr<std::shared_ptr<RunContext::Meeting>> meeting = startCollective(*target.context, started.call);
  if (!meeting) {
    pending.pop_back();
    return meeting.status().withContext(title);
  }
  started.meeting = std::move(*meeting);
  return Status();
}

namespace {

thread_local int customCallDepth = 0;

} // namespace

bool insideCustomCall() { return customCallDepth > 0; }

Status Executor::runStep(Frame &frame, const CustomCallStep &s) {
  if (frame.cells)
    for (SlotId id : s.results)
      MILLRACE_TRY(prepareOutput(frame, id));
  CustomCall call{s, {}, {}, target.device, where(), target.run};
  MILLRACE_TRY(views(frame, s.arguments, call.arguments));
  MILLRACE_TRY(views(frame, s.results, call.results));
  // Aliases and layouts go through copies: correct first, and such calls cost far more than a copy.
  std::vector<TensorView> resultViews = call.results;
  std::vector<std::shared_ptr<Storage>> temporaries;
  auto temporary = [&](uint64_t bytes, void *&data) -> Status {
    StatusOr<std::shared_ptr<Storage>> storage = Storage::allocate(target.allocator, bytes);
    if (!storage)
      return storage.status();
    data = (*storage)->data();
    temporaries.push_back(std::move(*storage));
    return Status();
  };
  auto layoutOf = [](const std::vector<std::vector<int64_t>> &layouts, size_t i) -> const std::vector<int64_t> * {
    return i < layouts.size() && !isRowMajor(layouts[i]) ? &layouts[i] : nullptr;
  };
  for (size_t i = 0; i < call.results.size(); ++i)
    if (layoutOf(s.resultLayouts, i))
      MILLRACE_TRY(temporary(call.results[i].bytes(), call.results[i].data));
  // An operand that goes to its aliased result anyway needs no memory of its own.
  std::vector<void *> aliased(call.arguments.size(), nullptr);
  for (auto [operand, result] : s.aliases)
    if (call.arguments[operand].bytes() == call.results[result].bytes())
      aliased[operand] = call.results[result].data;
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (const std::vector<int64_t> *layout = layoutOf(s.argumentLayouts, i)) {
      void *data = aliased[i];
      if (!data)
        MILLRACE_TRY(temporary(call.arguments[i].bytes(), data));
      relayout(call.arguments[i], *layout, data, true);
      call.arguments[i].data = data;
    }
  for (auto [operand, result] : s.aliases) {
    if (call.arguments[operand].bytes() != call.results[result].bytes())
      return invalidArgument("custom call '" + s.target + "': an operand and its aliased result differ in size");
    if (call.results[result].data != call.arguments[operand].data)
      std::memmove(call.results[result].data, call.arguments[operand].data, call.results[result].bytes());
    call.arguments[operand].data = call.results[result].data;
  }
  const CustomCallHandler &handler = plan.customCalls.find(&s)->second;
  ++customCallDepth;
  Status status = handler(call);
  --customCallDepth;
  MILLRACE_TRY(status.withContext("custom call '" + s.target + "'"));
  for (size_t i = 0; i < call.results.size(); ++i)
    if (const std::vector<int64_t> *layout = layoutOf(s.resultLayouts, i))
      relayout(resultViews[i], *layout, call.results[i].data, false);
  return Status();
}

Status Executor::runStep(Frame &frame, const DeviceIdStep &s) {
  uint32_t id = s.kind == DeviceIdStep::Kind::Partition ? target.partition : target.replica;
  if (frame.cells)
    MILLRACE_TRY(prepareOutput(frame, s.destination));
  if (s.kind == DeviceIdStep::Kind::RandomSeed) {
    const uint64_t stream[3] = {uint64_t(target.replica) << 32 | target.partition, seedsDrawn++, target.rngSeed};
    uint64_t seed = hash64(stream, sizeof stream);
    std::memcpy(frame.pointers[s.destination], &seed, sizeof seed);
    return Status();
  }
  std::memcpy(frame.pointers[s.destination], &id, sizeof id);
  return Status();
}

Status Executor::runStep(Frame &frame, const TransferStep &s) {
  using Kind = TransferStep::Kind;
  bool writes = s.kind == Kind::Infeed || s.kind == Kind::Recv;
  const char *const names[] = {"infeed", "outfeed", "send", "recv"};
  OperationId operation{&s, names[size_t(s.kind)], where()};
  if (writes && frame.cells)
    for (SlotId id : s.slots)
      MILLRACE_TRY(prepareOutput(frame, id));
  std::vector<TensorView> tensors;
  MILLRACE_TRY(views(frame, s.slots, tensors));
  std::vector<std::string> data;
  if (!writes)
    for (const TensorView &t : tensors)
      data.emplace_back(static_cast<const char *>(t.data), t.bytes());
  bool betweenDevices = (s.kind == Kind::Send || s.kind == Kind::Recv) && !s.isHostTransfer;
  if (betweenDevices) {
    // Ids of the pairs are replica ids in programs with replicas, else partition ids.
    RunContext &context = *target.context;
    bool byReplica = context.numReplicas > 1;
    uint32_t self = byReplica ? target.replica : target.partition;
    auto member = [&](int64_t id) {
      return byReplica ? uint32_t(id) * context.numPartitions + target.partition
                       : target.replica * context.numPartitions + uint32_t(id);
    };
    uint32_t me = target.replica * context.numPartitions + target.partition;
    for (auto [source, destination] : s.sourceTargetPairs) {
      int64_t limit = byReplica ? context.numReplicas : context.numPartitions;
      if (source < 0 || destination < 0 || source >= limit || destination >= limit)
        return invalidArgument(std::string(operation.name) + ": source_target_pairs name a device that does not exist");
      if (s.kind == Kind::Send && source == self)
        for (std::string &bytes : data)
          context.send(me, member(destination), s.channel, bytes);
      if (s.kind == Kind::Recv && destination == self)
        for (size_t i = 0; i < tensors.size(); ++i) {
          StatusOr<std::string> bytes = context.receive(me, member(source), s.channel, operation);
          if (!bytes)
            return bytes.status();
          data.push_back(std::move(*bytes));
        }
    }
    if (s.kind == Kind::Recv && data.empty()) // nobody sends to this device: zeros, as collective_permute
      for (const TensorView &t : tensors)
        data.emplace_back(t.bytes(), '\0');
  } else if (!target.channels) {
    return failedPrecondition(std::string(operation.name) + " needs a host that serves it");
  } else {
    int64_t channel = s.kind == Kind::Infeed    ? HostChannels::infeed
                      : s.kind == Kind::Outfeed ? HostChannels::outfeed
                                                : s.channel;
    if (!writes) {
      target.channels->push(channel, std::move(data));
    } else {
      StatusOr<std::vector<std::string>> received = target.channels->pop(channel, target.timeoutSeconds);
      if (!received)
        return received.status().withContext(operation.name);
      data = std::move(*received);
    }
  }
  if (!writes)
    return Status();
  if (data.size() != tensors.size())
    return invalidArgument(std::string(operation.name) + ": expects " + std::to_string(tensors.size()) +
                           " tensors, but got " + std::to_string(data.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (data[i].size() != tensors[i].bytes())
      return invalidArgument(std::string(operation.name) + ": expects " + std::to_string(tensors[i].bytes()) +
                             " bytes, but got " + std::to_string(data[i].size()));
    if (!data[i].empty())
      std::memcpy(tensors[i].data, data[i].data(), data[i].size());
  }
  return Status();
}

Status Executor::run(const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results) {
  const Function &entry = program.functions[program.entry];
  Frame frame = push(program.entry, arena);
  Status status = [&]() -> Status {
    for (size_t i = 0; i < arguments.size(); ++i)
      frame.pointers[entry.arguments[i]] = arguments[i].data;
    for (size_t i = 0; i < results.size(); ++i)
      frame.pointers[entry.results[i]] = results[i].data;
    bindStaticSlots(frame);
    MILLRACE_TRY(bindDims(frame, false, [&](size_t k, size_t axis) { return arguments[k].dims[axis]; }));
    MILLRACE_TRY(runSteps(frame, entry.steps, frame.cells ? &frame.plan->freeAfter : nullptr));
    for (size_t i = 0; i < results.size(); ++i) {
      SlotId id = entry.results[i];
      results[i].dims.clear();
      for (const Dim &d : entry.slots[id].dims)
        results[i].dims.push_back(value(frame, d));
      if (frame.cells && frame.cells[id]) {
        MILLRACE_TRY(prepareOutput(frame, id)); // of size 0 and never written, perhaps
        results[i].cell = *frame.cells[id];
        *frame.cells[id] = DynamicCell();
      }
    }
    return Status();
  }();
  pop(frame);
  if (status.ok() || where().empty())
    return status;
  return status.withContext(where());
}

Status execute(const Plan &plan, Workspace &workspace, const ExecutionTarget &target,
               const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results) {
  Status status = Executor(plan, workspace, target).run(arguments, results);
  if (!status.ok())
    for (BoundResult &r : results)
      if (r.cell.data) {
        target.allocator->deallocate(r.cell.data, r.cell.capacity);
        r.cell = DynamicCell();
      }
  return status;
}

} // namespace millrace::runtime

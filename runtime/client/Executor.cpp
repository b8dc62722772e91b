// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executor.cpp - Runs the steps of a program on one device ------------===//
// A Frame is one activation of a function: slot addresses, cells of slots with run-time shape, dims. Frames lie on a
// stack in the arena that it is lent, so neither calls nor loop iterations allocate; only growing cells do.
#include "runtime/client/ExecutorState.h"

#include "runtime/base/FloatModes.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Machine.h"
#include "runtime/program/Limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

namespace millrace::runtime {

static std::atomic<Profile *> activeProfile{nullptr};
ProfileScope::ProfileScope(Profile &profile) { activeProfile.store(&profile); }
ProfileScope::~ProfileScope() { activeProfile.store(nullptr); }
Profile *measuredProfile() { return activeProfile.load(); }

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

/// Binds static slots. The caller has bound the arguments and static results.
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

//===--- Values ------------------------------------------------------------===//

StatusOr<int64_t> evaluate(const DimExpr &expr, const int64_t *dims) {
  using Op = DimExpr::Op;
  if (expr.terms.size() == 1)
    return expr.terms[0].op == Op::Constant ? expr.terms[0].value : dims[expr.terms[0].value];
  int64_t values[kMaxSizeStack]; // Validate.cpp has checked that it suffices
  size_t depth = 0;
  for (const DimExpr::Term &t : expr.terms) {
    if (t.op == Op::Constant || t.op == Op::Dim) {
      values[depth++] = t.op == Op::Constant ? t.value : dims[t.value];
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

StatusOr<int64_t> Executor::value(const Frame &frame, const DimExpr &expr) const { return evaluate(expr, frame.dims); }

Status Executor::check(const Frame &frame, const std::vector<SizeCheck> &checks) {
  if (checks.empty())
    return Status();
  FailedCheck failed = evaluateChecks(program, *frame.function, checks, frame.dims);
  if (!failed.status.ok() && failed.location != kNone)
    location = failed.location;
  return failed.status;
}

Status Executor::bytesOf(const Frame &frame, SlotId id, uint64_t &bytes) {
  const Slot &slot = frame.function->slots[id];
  if (slot.bytes) {
    bytes = slot.bytes;
    return Status();
  }
  if (const auto product = bytesOfSizes(byteSize(slot.dtype), slot.dims.size(), [&](size_t d) { return value(frame, slot.dims[d]); })) {
    bytes = *product;
    return Status();
  }
  for (const Dim &d : slot.dims)
    if (const int64_t size = value(frame, d); size < 0)
      return invalidArgument("a dimension has size " + std::to_string(size));
  return resourceExhausted("a value with run-time shape is too large");
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
    const profile::MemoryFor purpose(profile::Purpose::Dynamic, recorded ? recorded->place : nullptr);
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
    // Kernels, the common case, bypass std::visit.
    Status status = recorded  ? runRecorded(frame, step)
                    : profile ? runMeasured(frame, step)
                    : step.body.index() == 0
                        ? runStep(frame, *std::get_if<KernelStep>(&step.body))
                        : std::visit([&](const auto &body) { return runStep(frame, body); }, step.body);
    if (!status.ok()) [[unlikely]] {
      leaveMeetings(); // leaves before the memory is released that other members read
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

/// Returns the name of a step in a profile; empty for steps that consist of other steps.
static std::string profileName(const Step &step) {
  if (std::holds_alternative<LoopStep>(step.body) || std::holds_alternative<CondStep>(step.body) || std::holds_alternative<CallStep>(step.body))
    return "";
  return std::holds_alternative<TransferStep>(step.body) ? "transfer" : profile::stepName(step);
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

Status Executor::runRecorded(Frame &frame, const Step &step) {
  using StepKind = profile::ProgramInfo::StepInfo::Kind;
  profile::Record record;
  record.what = recorded;
  record.a = uint64_t(target.run);
  record.b = step.location;
  record.device = uint16_t(target.device);
  StepKind kind = StepKind::Other;
  if (auto *kernel = std::get_if<KernelStep>(&step.body)) {
    record.kind = profile::Kind::Kernel;
    record.index = kernel->kernel;
  } else {
    record.kind = profile::Kind::Step;
    record.index = recorded->stepIndex.find(&step)->second;
    kind = recorded->steps[record.index].kind;
  }
  const profile::Record *outer = std::exchange(profile::currentStep, &record);
  const uint64_t waited = profile::waitedTicks;
  record.start = profile::ticks();
  Status status = profile ? runMeasured(frame, step) : std::visit([&](const auto &body) { return runStep(frame, body); }, step.body);
  record.end = profile::ticks();
  profile::currentStep = outer;
  if (record.kind == profile::Kind::Step)
    record.c = kind == StepKind::Loop ? turnsOfLoop : kind == StepKind::Collective ? profile::waitedTicks - waited : 0;
  profile::append(record);
  return status;
}

const profile::ProgramInfo *Plan::info() const {
  const profile::ProgramInfo *known = described.load(std::memory_order_acquire);
  if (known)
    return known;
  static std::mutex mutex; // the first thread makes the one description per program
  std::lock_guard lock(mutex);
  known = described.load(std::memory_order_relaxed);
  if (!known) {
    known = profile::describe(*program);
    described.store(known, std::memory_order_release);
  }
  return known;
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

namespace {

/// A kernel with its buffers.
struct KernelRange {
  KernelFunction function;
  void **buffers;
  const int64_t *dims;
  size_t count; ///< number of buffers; scratch memory follows them
  uint64_t scratchBytes;
  int64_t step = 0; ///< iterations per piece if the last ones run first; 0: all at once

  int32_t run(void **buffers, int64_t begin, int64_t end) const {
    if (!step)
      return function(buffers, dims, begin, end);
    for (int64_t part = (end - begin - 1) / step; part >= 0; --part) {
      int64_t first = begin + part * step;
      if (int32_t code = function(buffers, dims, first, std::min(end, first + step)))
        return code;
    }
    return 0;
  }
};

/// Runs the pieces that `profile.piecesFor` threads would share, one after the other, and measures each. Returns 0 or the error code of a piece.
static int32_t runPieces(const KernelStep &s, const KernelRange &range, int64_t end, Profile &profile) {
  const int64_t piece = pieceSize(end, s.picosecondsPerIteration, s.granularity, profile.piecesFor, ThreadPool::leastPieceAwake);
  const auto shares = unsigned(std::min<int64_t>((end - 1) / piece + 1, profile.piecesFor));
  std::vector<std::pair<int64_t, int64_t>> pieces;
  for (unsigned thread = 0; thread < shares; ++thread) {
    const auto [first, last] = shareOfThread(end, std::max<int64_t>(1, int64_t(s.granularity)), shares, thread);
    for (int64_t begin = first; begin < last; begin += piece)
      pieces.emplace_back(begin, std::min(last, begin + piece));
  }
  Profile::Pieces &times = profile.pieces[s.kernel][pieces.size()];
  ++times.launches;
  times.nanoseconds.resize(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t place = range.step ? pieces.size() - 1 - i : i;
    const auto start = std::chrono::steady_clock::now();
    const int32_t code = range.run(range.buffers, pieces[place].first, pieces[place].second);
    times.nanoseconds[place] += uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    if (code != 0)
      return code;
  }
  return 0;
}

} // namespace

/// Returns how many iterations run at a time, the last ones first; 0: all in order. Kernels that stream through more data than a core's cache holds
/// alternate their direction: each begins where the one before ended, with the data that the caches still hold.
int64_t Executor::backwardStep(const KernelStep &s, int64_t end) {
  // A part is a quarter of the second-level cache: the parts that the previous kernel has left in it are read before they are displaced.
  static const double bytesOfPart = double(Machine::host().cacheBytes(2)) / 4;
  const Kernel &kernel = program.kernels[s.kernel];
  if (!streams(kernel))
    return 0;
  goesBackward = !goesBackward;
  if (goesBackward)
    return 0;
  int64_t iterations = int64_t(bytesOfPart * double(end) / kernel.bytesAccessed), granularity = std::max<int64_t>(1, int64_t(s.granularity));
  return std::max<int64_t>(1, iterations / granularity) * granularity;
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
    bool mayBeEmpty = false;
    for (size_t i = 0; i < s.dims.size(); ++i)
      mayBeEmpty |= (dims[i] = frame.dims[s.dims[i]]) == 0;
    // Without elements of results there is nothing to do, but loops over their other dimensions might go on for years.
    for (size_t i = 0; mayBeEmpty && i < s.outputs.size(); ++i) {
      uint64_t bytes;
      MILLRACE_TRY(bytesOf(frame, s.outputs[i], bytes));
      mayBeEmpty = bytes == 0;
    }
    if (mayBeEmpty)
      return Status();
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
  KernelRange range{plan.code->kernel(s.kernel), buffers, dims, n, s.scratchBytes};
  if (end == 1) { // a single iteration is neither shared nor ordered; most steps of small loops have one
    if (s.scratchBytes && !(buffers[n] = threadScratch(s.scratchBytes)))
      return kernelError(s, kKernelOutOfMemory);
    int32_t code = range.function(buffers, dims, 0, 1);
    return code == 0 ? Status() : kernelError(s, code);
  }
  range.step = backwardStep(s, end);
  if (profile && profile->piecesFor) {
    if (s.scratchBytes && !(buffers[n] = threadScratch(s.scratchBytes)))
      return kernelError(s, kKernelOutOfMemory);
    int32_t code = runPieces(s, range, end, *profile);
    return code == 0 ? Status() : kernelError(s, code);
  }
  ThreadPool &pool = *target.pool;
  uint64_t total = uint64_t(std::min(double(s.picosecondsPerIteration) * double(end), 1e18));
  int64_t piece = pieceSize(end, s.picosecondsPerIteration, s.granularity, pool.size(), pool.leastPiece(openLoops != 0, total));
  int32_t code;
  if (piece >= end) {
    if (s.scratchBytes && !(buffers[n] = threadScratch(s.scratchBytes)))
      return kernelError(s, kKernelOutOfMemory);
    code = range.run(buffers, 0, end);
  } else {
    code = pool.run(
        end, piece,
        [](void *context, int64_t begin, int64_t end) -> int32_t {
          const KernelRange &range = *static_cast<KernelRange *>(context);
          if (!range.scratchBytes)
            return range.run(range.buffers, begin, end);
          void **own = static_cast<void **>(__builtin_alloca((range.count + 1) * sizeof(void *)));
          std::copy_n(range.buffers, range.count, own);
          own[range.count] = threadScratch(range.scratchBytes);
          if (!own[range.count])
            return kKernelOutOfMemory;
          return range.run(own, begin, end);
        },
        &range, /*isBackward=*/range.step != 0, std::max<int64_t>(1, int64_t(s.granularity)));
  }
  return code == 0 ? Status() : kernelError(s, code);
}

/// Several threads copy and fill large values, in pieces: one thread cannot use the memory's bandwidth.
constexpr uint64_t movedPiece = 256 << 10, largeMove = 4 * movedPiece;

static void copyBytes(ThreadPool &pool, char *to, const char *from, uint64_t bytes) {
  if (bytes < largeMove || (from < to + bytes && to < from + bytes)) {
    std::memmove(to, from, bytes);
    return;
  }
  struct Copy {
    char *to;
    const char *from;
    uint64_t bytes;
  } copy{to, from, bytes};
  pool.run(
      int64_t((bytes + movedPiece - 1) / movedPiece), 1,
      [](void *context, int64_t begin, int64_t end) -> int32_t {
        const Copy &copy = *static_cast<const Copy *>(context);
        uint64_t first = uint64_t(begin) * movedPiece, last = std::min(copy.bytes, uint64_t(end) * movedPiece);
        std::memcpy(copy.to + first, copy.from + first, last - first);
        return 0;
      },
      &copy);
}

/// Fills with `pattern`, whose size is a power of two up to 16, the size of an element.
static void fillBytes(ThreadPool &pool, char *to, const std::vector<uint8_t> &pattern, uint64_t bytes) {
  struct Fill {
    char *to;
    uint64_t bytes;
    bool isOneByte;
    alignas(64) uint8_t block[4096]; ///< whole elements, read from the first-level cache
    void run(uint64_t first, uint64_t last) const {
      if (isOneByte)
        std::memset(to + first, block[0], last - first);
      else
        for (uint64_t at = first; at < last; at += sizeof block)
          std::memcpy(to + at, block, std::min<uint64_t>(sizeof block, last - at));
    }
  } fill;
  fill.to = to;
  fill.bytes = bytes;
  fill.isOneByte = std::all_of(pattern.begin(), pattern.end(), [&](uint8_t byte) { return byte == pattern[0]; });
  for (uint64_t at = 0; at < (fill.isOneByte ? 1 : std::min<uint64_t>(bytes, sizeof fill.block)); at += pattern.size())
    std::memcpy(fill.block + at, pattern.data(), pattern.size());
  if (bytes < largeMove) {
    fill.run(0, bytes);
    return;
  }
  pool.run(
      int64_t((bytes + movedPiece - 1) / movedPiece), 1,
      [](void *context, int64_t begin, int64_t end) -> int32_t {
        const Fill &fill = *static_cast<const Fill *>(context);
        fill.run(uint64_t(begin) * movedPiece, std::min(fill.bytes, uint64_t(end) * movedPiece));
        return 0;
      },
      &fill);
}

Status Executor::runStep(Frame &frame, const CopyStep &s) {
  uint64_t from, to;
  MILLRACE_TRY(bytesOf(frame, s.source, from));
  MILLRACE_TRY(bytesOf(frame, s.destination, to));
  // A buffer of dynamic shape may have more or fewer rows than its counterpart: the bytes that both have are copied.
  const Function &f = *frame.function;
  if (!f.slots[s.source].isStatic() || !f.slots[s.destination].isStatic())
    from = to = std::min(from, to);
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
  if (bytes)
    fillBytes(*target.pool, static_cast<char *>(frame.pointers[s.destination]), s.pattern, bytes);
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
  return check(frame, s.checks);
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
      if (entry.slots[id].isStatic() && !(frame.cells && frame.cells[id])) // the caller knows its sizes and owns its memory
        continue;
      results[i].dims.clear();
      for (const Dim &d : entry.slots[id].dims)
        results[i].dims.push_back(value(frame, d));
      if (frame.cells && frame.cells[id]) {
        MILLRACE_TRY(prepareOutput(frame, id)); // a result of size 0 may never have been written
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

Status execute(const Plan &plan, void *arena, const ExecutionTarget &target,
               const std::vector<BoundArgument> &arguments, std::vector<BoundResult> &results) {
  const DefaultFloatModes modes;
  Status status = Executor(plan, arena, target).run(arguments, results);
  if (!status.ok())
    for (BoundResult &r : results)
      if (r.cell.data) {
        target.allocator->deallocate(r.cell.data, r.cell.capacity);
        r.cell = DynamicCell();
      }
  return status;
}

} // namespace millrace::runtime

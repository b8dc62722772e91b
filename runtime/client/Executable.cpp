// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executable.cpp - Loading and launching programs ---------------------===//
#include "runtime/base/Environment.h"
#include "runtime/base/Hash.h"
#include "runtime/client/Buffer.h"
#include "runtime/client/DeviceErrors.h"
#include "runtime/client/Executor.h"
#include "runtime/client/PreparedBytes.h"
#include "runtime/collective/Processes.h"
#include "runtime/profile/Recorder.h"
#include "runtime/program/Cost.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <list>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <unistd.h>
#include <utility>

namespace millrace::runtime {
namespace {

/// Each launch sends the types of at most so many arguments to other processes, usually of all: enough to name one that differs. Unit: arguments.
/// Source: judgement, not measured alone.
constexpr size_t kMaxToldArguments = 1024;

/// A launch prefetches the argument that is so far ahead of the current one: enough for a line from the third-level cache to arrive. Unit: arguments.
/// Source: judgement, not measured alone.
constexpr size_t kAhead = 8;

/// An execution of at most this cost runs on the caller's thread, as the hand-over to the device's thread would cost more than it gains. Unit:
/// picoseconds of an execution. Source: judgement, not measured alone.
constexpr uint64_t kInlinePicoseconds = 100'000'000;

std::string typeText(DType dtype, const std::vector<int64_t> &dims) {
  std::string text = "tensor<";
  for (int64_t d : dims)
    text += (d == kDynamic ? std::string("?") : std::to_string(d)) + "x";
  return text + std::string(name(dtype)) + ">";
}

bool shapeMatches(const TensorSpec &spec, const std::vector<int64_t> &dims) {
  if (spec.dims.size() != dims.size())
    return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (spec.dims[d] != kDynamic && spec.dims[d] != dims[d])
      return false;
    if (d < spec.bounds.size() && spec.bounds[d] != kDynamic && dims[d] > spec.bounds[d])
      return false;
  }
  return true;
}

bool isStatic(const TensorSpec &spec) {
  return std::find(spec.dims.begin(), spec.dims.end(), kDynamic) == spec.dims.end();
}

std::string argumentTitle(const Program &program, size_t k) {
  std::string text = "argument " + std::to_string(k);
  if (!program.arguments[k].name.empty())
    text += " ('" + program.arguments[k].name + "')";
  return text;
}

/// The arguments of one device, which the caller of the launch keeps alive.
using BorrowedArguments = std::span<const BufferPtr>;

/// Returns the positions of a donated argument and of another one that is the same buffer.
std::optional<std::pair<size_t, size_t>> donatedTwice(BorrowedArguments arguments, const std::vector<uint8_t> &consumes) {
  const size_t donated = size_t(std::count(consumes.begin(), consumes.end(), 1)); // 0 where there is no list
  if (!donated)
    return std::nullopt;
  // A hash table of donated arguments by their buffers, at most half full; 0 is an empty entry.
  std::vector<uint32_t> table(std::bit_ceil(2 * donated));
  auto placeOf = [&](const Buffer *buffer) -> uint32_t & {
    size_t at = size_t(uintptr_t(buffer) * 0x9E3779B97F4A7C15u >> 20);
    while (table[at % table.size()] && arguments[table[at % table.size()] - 1].get() != buffer)
      ++at;
    return table[at % table.size()];
  };
  for (size_t k = 0; k < arguments.size(); ++k)
    if (consumes[k]) {
      uint32_t &place = placeOf(arguments[k].get());
      if (place)
        return std::pair(size_t(place - 1), k);
      place = uint32_t(k + 1);
    }
  for (size_t k = 0; k < arguments.size(); ++k)
    if (!consumes[k])
      if (uint32_t place = placeOf(arguments[k].get()))
        return std::pair(size_t(place - 1), k);
  return std::nullopt;
}

/// The argument types that every launch compares with, side by side: specifications are spread over the heap, and a program has hundreds of them.
struct Signature {
  explicit Signature(const std::vector<Argument> &arguments) {
    for (const Argument &argument : arguments) {
      types.push_back({argument.dtype, isStatic(argument) ? int32_t(argument.dims.size()) : -1, uint32_t(sizes.size())});
      sizes.insert(sizes.end(), argument.dims.begin(), argument.dims.end());
      donated.push_back(argument.donated);
    }
    if (std::find(donated.begin(), donated.end(), 1) == donated.end())
      donated.clear();
  }
  /// Returns true if argument `k` has a static type and the value is of this type.
  bool isExactly(size_t k, const Buffer::Value &value) const {
    const Type &type = types[k];
    return type.dtype == value.dtype && value.shapeIsKnown && type.rank == int32_t(value.dims.size()) &&
           std::equal(value.dims.begin(), value.dims.end(), sizes.begin() + type.first);
  }
  struct Type {
    DType dtype;
    int32_t rank; ///< -1 if a size is unknown
    uint32_t first; ///< index in `sizes`
  };
  std::vector<Type> types;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> donated; ///< per argument; empty if no argument is donated
};

/// Prefetches object `at`. Arguments are spread over the heap, so the cache misses of several arguments overlap.
inline void readSoon(const void *at) { __builtin_prefetch(at); }

/// Held while an execution whose devices meet in collectives is enqueued: two such executions must stand in the same order in all queues to avoid a
/// deadlock. Also held where an execution may wait for its caller, so that it does not come between the executions of one rendezvous that do not.
std::mutex meetings;

/// Memory that an execution on one device gets before it is enqueued; empty where the execution allocates it.
struct Provision {
  std::shared_ptr<Arena> arena; ///< may be shared: the executions on a device run one after the other
  std::vector<std::shared_ptr<Storage>> results; ///< null for a result of unknown size, or in the memory of an argument
};

/// Records the call that launches an execution, which began at `started` (0: before the recording).
class LaunchRecord : public profile::ScopedRecord {
public:
  LaunchRecord(const Plan &plan, int64_t number, uint64_t started)
      : ScopedRecord([&](profile::Record &made) {
          made.kind = profile::Kind::Launch;
          made.what = plan.info();
          made.a = uint64_t(number);
          made.start = started;
        }) {}
};

/// Returns the program's line that defines result `r`; null unless a profile is recorded. The other overload returns that of the program.
const profile::Name *placeOfResult(const Plan &plan, size_t r) { return profile::isOn() ? plan.info()->resultPlaces[r] : nullptr; }
const profile::Name *placeOf(const Plan &plan) { return profile::isOn() ? plan.info()->place : nullptr; }

/// Returns true if `value` is ready, or an execution that does not wait for its caller computes it, and the release of its memory calls no foreign
/// code.
bool comesByItself(const Buffer::Value &value) {
  return value.comesByItself || (value.ready.isReady() && value.ready.await().ok() && !value.storage->isImported());
}

} // namespace

struct Executable::State {
  explicit State(std::shared_ptr<const Plan> given) : plan(std::move(given)), signature(plan->program->arguments) {}
  std::shared_ptr<const Plan> plan;
  const Signature signature;
  bool onAnyThread = false; ///< the execution waits for nothing but the values of its arguments
  bool runsInline = false;
  std::vector<uint32_t> members; ///< members of this process's devices, in the order of Executable::devices()
  std::vector<uint32_t> processOf; ///< per member; empty if all members are of this process
  std::string argumentTypes; ///< likewise; one line per argument, of a program that meets other processes
  std::atomic<uint64_t> launches{0};
  Meets meets = Meets::InLaunches;
  bool resultsTogether = false; ///< one block of memory holds all results
  bool spansProcesses() const { return !processOf.empty(); }
};

/// The execution of one program on one device.
struct Executable::Launch {
  std::shared_ptr<State> state;
  std::shared_ptr<RunContext> context; ///< null if the program has no collectives
  std::shared_ptr<Allocator> allocator;
  std::shared_ptr<HostChannels> channels;
  uint32_t replica = 0, partition = 0, device = 0;
  double timeoutSeconds = 0;
  int64_t number = 0; ///< number of the execution; the launches on all devices share it
  uint64_t rngSeed = 0; ///< shared by the launches on all devices
  uint64_t launched = 0; ///< ticks, if a profile is recorded
  std::vector<std::shared_ptr<Buffer::Value>> arguments;
  std::vector<uint8_t> consumed; ///< per argument, whether the caller donates it; empty if none is donated
  std::vector<std::shared_ptr<Buffer::Value>> results;
  Provision provision;
  EventSource done; ///< set when the results are ready

  explicit Launch(const std::shared_ptr<Event::Worker> &worker) : done(worker) {}

  using Values = std::vector<std::shared_ptr<Buffer::Value>>;
  static StatusOr<std::vector<Values>> checkedValues(const Program &p, const Signature &signature, std::span<Device *const> devices,
                                                     std::span<const BorrowedArguments> arguments, const std::vector<uint8_t> &consumes);
  static std::vector<Provision> provideAll(const Plan &plan, std::span<Device *const> devices, bool isNested);
  std::vector<std::shared_ptr<Storage>> provideTogether(const Plan &plan);
  std::vector<BufferPtr> makeResults(const std::shared_ptr<Client> &client, Device &target, const std::vector<int64_t> &dims);

  /// Implements Executable::execute() on `devices`.
  static StatusOr<ExecuteResult> start(Executable &executable, std::span<Device *const> devices, std::span<const BorrowedArguments> arguments,
                                       const ExecuteOptions &options);

  void run() {
    Status status;
    profile::Record record;
    if (profile::isOn()) [[unlikely]]
      record.start = profile::ticks();
    try {
      status = compute();
    } catch (const std::bad_alloc &) {
      status = resourceExhausted("out of memory");
    }
    status = onDevice(device, status);
    if (record.start) [[unlikely]] { // recorded before `done` is set, for a thread that waits for it may end the recording
      record.end = profile::ticks();
      record.kind = profile::Kind::Execution;
      record.what = state->plan->info();
      record.a = uint64_t(number);
      record.b = launched;
      record.device = uint16_t(device);
      profile::append(record);
    }
    // The context of replicas continues, unless no member may wait for this one any more.
    if (context && !(state->meets == Meets::InOperations && status.ok()))
      context->finish(replica * context->numPartitions + partition, status);
    arguments.clear(); // dropped before `done` is set, so that a donation that follows can reuse the memory
    results.clear();
    provision = {}; // memory that an error left unused
    done.set(status);
  }

private:
  static bool provide(const Plan &plan, Device &device, bool isNested, Provision &provision);
  Status compute() {
    const Plan &plan = *state->plan;
    const Program &program = *plan.program;
    for (size_t k = 0; k < arguments.size(); ++k) {
      MILLRACE_TRY(arguments[k]->ready.await());
      if (k >= program.arguments.size()) // a prepared value, which this class has made
        continue;
      if (!arguments[k]->shapeIsKnown && !shapeMatches(program.arguments[k], arguments[k]->dims)) // values of known shape were compared at the launch
        return invalidArgument("expects " + argumentTitle(program, k) + " to be " +
                               typeText(program.arguments[k].dtype, program.arguments[k].dims) + ", but got " +
                               typeText(arguments[k]->dtype, arguments[k]->dims));
    }
    std::vector<BoundArgument> boundArguments(arguments.size());
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (k + kAhead < arguments.size())
        readSoon(arguments[k + kAhead]->storage.get());
      boundArguments[k] = {arguments[k]->storage->data(), arguments[k]->dims.data()};
    }
    std::vector<BoundResult> boundResults(results.size());
    std::vector<std::shared_ptr<Storage>> storages(results.size());
    for (size_t r = 0; r < results.size(); ++r) {
      const Result &spec = program.results[r];
      if (!isStatic(spec))
        continue;
      if (spec.aliasArgument != kNone) {
        const std::shared_ptr<Buffer::Value> &argument = arguments[spec.aliasArgument];
        // An argument is overwritten if its caller has donated it, no other value shares its memory, and the memory may be written.
        if (!consumed.empty() && consumed[spec.aliasArgument] && argument.use_count() == 1 && argument->storage.use_count() == 1 &&
            argument->storage->isMutable()) {
          // The fence synchronizes with readers that have released the memory: use_count() alone orders nothing.
          std::atomic_thread_fence(std::memory_order_acquire);
          storages[r] = argument->storage;
        } else {
          const profile::MemoryFor purpose(profile::Purpose::Copy, placeOfResult(plan, r));
          StatusOr<std::shared_ptr<Storage>> copy = Storage::allocate(allocator, argument->storage->size());
          if (!copy)
            return copy.status();
          if (argument->storage->size())
            std::memcpy((*copy)->data(), argument->storage->data(), argument->storage->size());
          storages[r] = std::move(*copy);
          boundArguments[spec.aliasArgument].data = storages[r]->data();
        }
      } else if (results[r]->hasMemory) {
        storages[r] = results[r]->storage;
      } else if (!provision.results.empty()) {
        storages[r] = std::move(provision.results[r]);
      } else {
        StatusOr<uint64_t> bytes = denseBytes(spec.dtype, spec.dims);
        if (!bytes)
          return bytes.status();
        const profile::MemoryFor purpose(profile::Purpose::Result, placeOfResult(plan, r));
        StatusOr<std::shared_ptr<Storage>> storage = Storage::allocate(allocator, *bytes);
        if (!storage)
          return storage.status();
        storages[r] = std::move(*storage);
      }
      boundResults[r].data = storages[r]->data();
    }
    Arena own;
    if (!provision.arena) {
      const profile::MemoryFor purpose(profile::Purpose::Intermediate, placeOf(plan));
      StatusOr<Arena> lent = allocator->lend(ArenaLayout(plan).bytes);
      if (!lent)
        return lent.status();
      own = std::move(*lent);
    }
    ExecutionTarget target{&ThreadPool::global(), allocator, context.get(), channels.get(),
                           replica,               partition, device,        timeoutSeconds,
                           number,                rngSeed};
    Status status = runtime::execute(plan, provision.arena ? provision.arena->data() : own.data(), target, boundArguments, boundResults);
    own = Arena(); // the next execution may need its memory
    provision.arena.reset();
    MILLRACE_TRY(status);
    for (size_t r = 0; r < results.size(); ++r) {
      if (storages[r]) {
        if (!results[r]->hasMemory) // otherwise other threads may be reading the pointer
          results[r]->storage = std::move(storages[r]);
        continue;
      }
      StatusOr<uint64_t> bytes = denseBytes(results[r]->dtype, boundResults[r].dims);
      const DynamicCell &cell = boundResults[r].cell;
      if (!bytes) {
        allocator->deallocate(cell.data, cell.capacity);
        status = bytes.status();
        continue;
      }
      if (!results[r]->shapeIsKnown) // otherwise other threads may be reading the shape
        results[r]->dims = std::move(boundResults[r].dims);
      if (cell.capacity == *bytes) {
        results[r]->storage = Storage::adopt(allocator, cell.data, cell.capacity);
        continue;
      }
      // The cell has grown for a larger value, so the buffer gets memory of its own size.
      const profile::MemoryFor purpose(profile::Purpose::Result, placeOfResult(plan, r));
      StatusOr<std::shared_ptr<Storage>> exact = Storage::allocate(allocator, *bytes);
      if (exact) {
        std::memcpy((*exact)->data(), cell.data, *bytes);
        results[r]->storage = std::move(*exact);
      } else {
        status = exact.status();
      }
      allocator->deallocate(cell.data, cell.capacity);
    }
    return status;
  }
};

/// Returns the values of the arguments of all devices, or an error. Everything is checked before anything is donated.
StatusOr<std::vector<Executable::Launch::Values>> Executable::Launch::checkedValues(const Program &p, const Signature &signature,
                                                                                    std::span<Device *const> devices,
                                                                                    std::span<const BorrowedArguments> arguments,
                                                                                    const std::vector<uint8_t> &consumes) {
  std::vector<Values> values(devices.size());
  for (size_t d = 0; d < devices.size(); ++d) {
    const size_t count = arguments[d].size();
    if (count != p.arguments.size())
      return invalidArgument("expects " + std::to_string(p.arguments.size()) + " arguments, but got " + std::to_string(count));
    values[d].reserve(count);
    for (size_t k = 0; k < count; ++k) {
      if (k + kAhead < count)
        readSoon(arguments[d][k + kAhead].get());
      const BufferPtr &buffer = arguments[d][k];
      if (!buffer)
        return invalidArgument(argumentTitle(p, k) + " is missing");
      StatusOr<std::shared_ptr<Buffer::Value>> value = buffer->get();
      if (!value)
        return value.status().withContext(argumentTitle(p, k));
      values[d].push_back(std::move(*value));
      if (&buffer->device() != devices[d])
        return invalidArgument("expects " + argumentTitle(p, k) + " on device " + std::to_string(devices[d]->id()) +
                               ", but it is on device " + std::to_string(buffer->device().id()));
    }
    for (size_t k = 0; k < count; ++k) {
      if (k + kAhead < count)
        readSoon(values[d][k + kAhead].get());
      const Buffer::Value &value = *values[d][k];
      if (signature.isExactly(k, value))
        continue;
      if (value.dtype != p.arguments[k].dtype || (value.shapeIsKnown && !shapeMatches(p.arguments[k], value.dims)))
        return invalidArgument("expects " + argumentTitle(p, k) + " to be " + typeText(p.arguments[k].dtype, p.arguments[k].dims) +
                               ", but got " + typeText(value.dtype, value.dims));
    }
    if (auto twice = donatedTwice(arguments[d], consumes))
      return invalidArgument("the buffer of argument " + std::to_string(twice->first) + " is donated, but is argument " +
                             std::to_string(twice->second) + " too");
  }
  return values;
}

/// Allocates the memory of an execution on `device`, for its temporary values and for results of known size. Returns false if there is too little.
bool Executable::Launch::provide(const Plan &plan, Device &device, bool isNested, Provision &provision) {
  const profile::MemoryFor purpose(profile::Purpose::Intermediate, placeOf(plan));
  provision.arena = device.lendArena(ArenaLayout(plan).bytes, /*isQueued=*/!isNested);
  if (!provision.arena)
    return false;
  for (const Result &spec : plan.program->results) {
    std::shared_ptr<Storage> &storage = provision.results.emplace_back();
    if (!isStatic(spec) || spec.aliasArgument != kNone)
      continue;
    StatusOr<uint64_t> bytes = denseBytes(spec.dtype, spec.dims);
    const profile::MemoryFor result(profile::Purpose::Result, placeOfResult(plan, provision.results.size() - 1));
    StatusOr<std::shared_ptr<Storage>> made = bytes ? device.allocate(*bytes) : StatusOr<std::shared_ptr<Storage>>(bytes.status());
    if (!made)
      return false;
    storage = std::move(*made);
  }
  return true;
}

/// Allocates the memory of all executions before new buffers can take it. All of it or nothing: two threads that hold one part each would both fail.
std::vector<Provision> Executable::Launch::provideAll(const Plan &plan, std::span<Device *const> devices, bool isNested) {
  std::vector<Provision> provisions(devices.size());
  for (size_t d = 0; d < devices.size(); ++d)
    if (!provide(plan, *devices[d], isNested, provisions[d])) // the execution tries again, and fails if memory is still missing
      return {};
  return provisions;
}

/// Returns memory for each result, all in one block, or nothing if there is too little or a result has no known size. In one block, the results of
/// large programs, pieces of some hundred kilobytes that every execution reads, are in huge pages.
std::vector<std::shared_ptr<Storage>> Executable::Launch::provideTogether(const Plan &plan) {
  std::vector<uint64_t> sizes;
  uint64_t all = 0;
  for (const Result &spec : plan.program->results) {
    StatusOr<uint64_t> bytes = isStatic(spec) && spec.aliasArgument == kNone ? denseBytes(spec.dtype, spec.dims) : invalidArgument("no size");
    if (!bytes)
      return {};
    sizes.push_back(*bytes);
    all += alignedBytes(*bytes);
  }
  const profile::MemoryFor purpose(profile::Purpose::Result, placeOf(plan));
  StatusOr<std::shared_ptr<Storage>> block = Storage::allocate(allocator, all);
  if (!block)
    return {};
  std::vector<std::shared_ptr<Storage>> parts;
  uint64_t offset = 0;
  for (uint64_t bytes : sizes) {
    parts.push_back(Storage::import(static_cast<char *>((*block)->data()) + offset, bytes, /*isMutable=*/true, [kept = *block] {}));
    offset += alignedBytes(bytes);
  }
  return parts;
}

/// Makes the buffers of the results, whose values the execution computes.
std::vector<BufferPtr> Executable::Launch::makeResults(const std::shared_ptr<Client> &client, Device &target, const std::vector<int64_t> &dims) {
  const Plan &plan = *state->plan;
  std::vector<BufferPtr> buffers;
  std::vector<std::shared_ptr<Storage>> together;
  if (state->resultsTogether && !client->options().memoryLimit) // with a memory limit executions wait for memory, which is counted per buffer
    together = provideTogether(plan);
  for (const Result &spec : plan.program->results) {
    auto value = std::make_shared<Buffer::Value>();
    value->dtype = spec.dtype;
    value->shapeIsKnown = isStatic(spec);
    if (value->shapeIsKnown) {
      value->dims = spec.dims;
    } else if (!dims.empty()) {
      const Function &entry = plan.program->functions[plan.program->entry];
      for (const Dim &dim : entry.slots[entry.results[buffers.size()]].dims)
        value->dims.push_back(dim.isRuntime ? dims[dim.value] : dim.value);
      value->shapeIsKnown = true;
    }
    value->ready = done.event();
    if (!together.empty()) {
      value->hasMemory = true;
      value->storage = together[buffers.size()];
    } else if (plan.mayWaitForCaller && isStatic(spec) && spec.aliasArgument == kNone) {
      StatusOr<uint64_t> bytes = denseBytes(spec.dtype, spec.dims);
      const profile::MemoryFor purpose(profile::Purpose::Result, placeOfResult(plan, buffers.size()));
      StatusOr<std::shared_ptr<Storage>> storage =
          bytes ? Storage::allocate(allocator, *bytes) : StatusOr<std::shared_ptr<Storage>>(bytes.status());
      value->hasMemory = storage.ok(); // otherwise the execution tries again, and may fail
      if (storage)
        value->storage = std::move(*storage);
    }
    const MemorySpace *space = target.memory(spec.memoryKind);
    buffers.push_back(std::make_shared<Buffer>(client, space ? space : &target.memories()[0], value));
    results.push_back(std::move(value));
  }
  return buffers;
}

static std::atomic<uint64_t> preparationsSoFar{0}, preparedBytes{0};
uint64_t preparationsOfProcess() { return preparationsSoFar.load(); }
uint64_t preparedBytesOfProcess() { return preparedBytes.load(); }
static thread_local uint64_t notKept = 0;
uint64_t preparationsNotKept() { return notKept; }

namespace {

/// Counts bytes as kept for its lifetime.
class KeptBytes {
public:
  /// Counts the bytes. Returns false, and counts nothing, if they would exceed the limit.
  bool count(uint64_t bytes) {
    const uint64_t limit = environment::count("MILLRACE_PREPARED_BYTES")
                               .value_or(uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 4);
    uint64_t known = preparedBytes.load();
    do
      if (bytes > limit || known > limit - bytes)
        return false;
    while (!preparedBytes.compare_exchange_weak(known, known + bytes));
    counted = bytes;
    return true;
  }
  KeptBytes() = default;
  KeptBytes(KeptBytes &&other) noexcept : counted(std::exchange(other.counted, 0)) {}
  ~KeptBytes() { preparedBytes -= counted; }

private:
  uint64_t counted = 0;
};

} // namespace

/// The results of a program's preparation, per device.
struct Executable::Prepared {
  /// The results for one list of arguments. Several layers of a model may use one program in turn.
  struct Set {
    KeptBytes bytes;
    std::vector<std::weak_ptr<Buffer::Value>> from; ///< the arguments; a buffer that is alive still has the same value
    std::vector<BufferPtr> results;
    bool isOf(const std::vector<std::shared_ptr<Buffer::Value>> &values) const {
      return std::equal(from.begin(), from.end(), values.begin(), values.end(), [](const auto &one, const auto &other) { return one.lock() == other; });
    }
    bool isGone() const {
      return std::any_of(from.begin(), from.end(), [](const auto &value) { return value.expired(); });
    }
    bool hasFailed() const {
      return std::any_of(results.begin(), results.end(), [](const BufferPtr &buffer) { return buffer->ready().isReady() && !buffer->ready().await().ok(); });
    }
  };
  std::shared_ptr<Executable> program;
  mutable std::mutex mutex;
  std::map<uint32_t, std::list<Set>> sets; ///< by device, the most recently used sets first; guarded by mutex
  Preparations counts;                     ///< guarded by mutex

  Prepared() {
    std::lock_guard lock(allMutex);
    all.insert(this);
  }
  ~Prepared() {
    std::lock_guard lock(allMutex);
    all.erase(this);
  }
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;

  /// Returns the bytes of one set.
  uint64_t bytes() const {
    uint64_t total = 0;
    for (const Result &result : program->program().results)
      if (StatusOr<uint64_t> size = denseBytes(result.dtype, result.dims))
        total += *size;
    return total;
  }

  /// Drops the sets of all other programs that nobody executes now whose arguments are gone.
  void dropGoneOfOthers() const {
    std::lock_guard lock(allMutex);
    for (Prepared *other : all)
      if (other != this)
        if (std::unique_lock own(other->mutex, std::try_to_lock); own)
          for (auto &[device, list] : other->sets)
            list.remove_if([](const Set &set) { return set.isGone(); });
  }

private:
  static inline std::mutex allMutex;
  static inline std::set<Prepared *> all; ///< guarded by allMutex
};

Executable::Preparations Executable::preparations() const {
  if (!prepared)
    return {};
  std::lock_guard lock(prepared->mutex);
  return prepared->counts;
}

StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> Executable::prepare(Device &device, std::span<const BufferPtr> arguments) {
  std::vector<BufferPtr> buffers;
  std::vector<std::shared_ptr<Buffer::Value>> values;
  bool mayChange = false;
  for (uint32_t k : program().preparation.arguments) {
    StatusOr<std::shared_ptr<Buffer::Value>> value = arguments[k]->get();
    if (!value)
      return value.status().withContext(argumentTitle(program(), k));
    // The owner of imported memory may write to it unnoticed.
    if ((*value)->ready.isReady() && (*value)->storage && (*value)->storage->isImported() && (*value)->storage->isMutable())
      mayChange = true;
    buffers.push_back(arguments[k]);
    values.push_back(std::move(*value));
  }
  // The largest number of sets of one program and device: their buffers live as long as the arguments. Unit: sets. Source: judgement, not measured
  // alone: more than the layers of large models.
  constexpr size_t kMaxSets = 256;
  auto valuesOf = [](const std::vector<BufferPtr> &results) -> StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> {
    std::vector<std::shared_ptr<Buffer::Value>> made;
    for (const BufferPtr &buffer : results) {
      StatusOr<std::shared_ptr<Buffer::Value>> value = buffer->get();
      if (!value)
        return value.status();
      made.push_back(std::move(*value));
    }
    return made;
  };
  std::lock_guard lock(prepared->mutex);
  std::list<Prepared::Set> &sets = prepared->sets[device.id()];
  const size_t before = sets.size();
  sets.remove_if([&](const Prepared::Set &set) { return set.isGone() || set.hasFailed() || (mayChange && set.isOf(values)); });
  bool isChange = sets.size() < before;
  auto known = std::find_if(sets.begin(), sets.end(), [&](const Prepared::Set &set) { return set.isOf(values); });
  if (known != sets.end()) {
    sets.splice(sets.begin(), sets, known);
    prepared->counts.changesInARow = 0;
  } else {
    if (sets.size() == kMaxSets) {
      sets.pop_back();
      isChange = true;
    }
    StatusOr<ExecuteResult> made = prepared->program->launch({&device}, {buffers}, {});
    if (!made)
      return made.status().withContext("constants cannot be prepared");
    ++prepared->counts.all;
    prepared->counts.changesInARow += isChange;
    ++preparationsSoFar;
    KeptBytes kept;
    bool isKept = kept.count(prepared->bytes());
    if (!isKept) {
      prepared->dropGoneOfOthers();
      isKept = kept.count(prepared->bytes());
    }
    if (!isKept) {
      ++notKept;
      return valuesOf(made->results.front());
    }
    sets.push_front({std::move(kept), std::vector<std::weak_ptr<Buffer::Value>>(values.begin(), values.end()), std::move(made->results.front())});
  }
  return valuesOf(sets.front().results);
}

Executable::~Executable() = default;
const Program &Executable::program() const { return *state->plan->program; }

CostAnalysis Executable::cost() const {
  CostAnalysis cost;
  ProgramCost counted = costOf(program());
  cost.flops = counted.flops;
  cost.bytesAccessed = counted.bytesAccessed;
  cost.codeBytes = state->plan->code->codeBytes();
  cost.memory = program().memory;
  cost.memory.code = cost.codeBytes;
  return cost;
}

StatusOr<std::shared_ptr<Executable>> Client::load(Program program, const LoadOptions &options) {
  return load(std::make_shared<const Program>(std::move(program)), options);
}

StatusOr<std::shared_ptr<Executable>> Client::load(std::shared_ptr<const Program> program, const LoadOptions &options) {
  uint64_t needed = uint64_t(program->numReplicas) * program->numPartitions;
  std::vector<uint32_t> assignment = options.deviceAssignment;
  if (assignment.empty())
    for (uint32_t i = 0; i < needed; ++i)
      assignment.push_back(needed <= all.size() ? firstIds[processIndex()] + i : i);
  if (assignment.size() != needed)
    return invalidArgument("expects a device assignment of " + std::to_string(needed) + " ids, but got " +
                           std::to_string(assignment.size()));
  std::set<uint32_t> seen;
  for (uint32_t id : assignment) {
    if (id >= numGlobalDevices())
      return invalidArgument("the program needs " + std::to_string(needed) + " device" + (needed == 1 ? "" : "s") +
                             " (" + std::to_string(program->numReplicas) + " replicas x " +
                             std::to_string(program->numPartitions) + " partitions), device " + std::to_string(id) +
                             " among them, but there are " + std::to_string(numGlobalDevices()));
    if (!seen.insert(id).second)
      return invalidArgument("device " + std::to_string(id) + " appears twice in the device assignment");
  }
  StatusOr<std::shared_ptr<LoadedCode>> code =
      LoadedCode::load(*program, options.loader ? *options.loader : loaderOptionsFromEnvironment());
  if (!code)
    return code.status();
  StatusOr<std::shared_ptr<const Plan>> plan = Plan::create(program, std::move(*code));
  if (!plan)
    return plan.status();
  std::shared_ptr<Executable> executable(new Executable);
  executable->client = shared_from_this();
  executable->state = std::make_shared<Executable::State>(std::move(*plan));
  executable->state->onAnyThread = needed == 1 && !executable->state->plan->mayBlock();
  executable->state->runsInline = executable->state->onAnyThread && executable->state->plan->picoseconds < kInlinePicoseconds;
  for (uint32_t member = 0; member < needed; ++member) {
    if (Device *own = device(assignment[member])) {
      executable->assigned.push_back(own);
      executable->state->members.push_back(member);
    }
    executable->state->processOf.push_back(processOf(assignment[member]));
  }
  executable->ids = std::move(assignment);
  if (program->preparation.exists()) {
    // The preparation is the same machine code with another entry function.
    StatusOr<std::shared_ptr<const Plan>> preparation =
        Plan::create(std::make_shared<const Program>(preparationOf(*program)), executable->state->plan->code);
    if (!preparation)
      return preparation.status();
    executable->prepared = std::make_shared<Executable::Prepared>();
    std::shared_ptr<Executable> &own = executable->prepared->program;
    own.reset(new Executable);
    own->client = executable->client;
    own->state = std::make_shared<Executable::State>(std::move(*preparation));
    own->state->onAnyThread = !own->state->plan->mayBlock();
    own->state->resultsTogether = true;
    own->state->members = {0};
  }
  if (needed == 1)
    executable->state->members = {0}; // also where it is assigned to another process, and run in this one by executeOn()
  if (executable->assigned.size() == needed)
    executable->state->processOf.clear();
  if (executable->state->spansProcesses() && executable->state->plan->meetsOthers)
    for (size_t k = 0; k < std::min(executable->program().arguments.size(), kMaxToldArguments); ++k)
      executable->state->argumentTypes += typeText(executable->program().arguments[k].dtype, executable->program().arguments[k].dims) + "\n";
  if (options.meets == Meets::InOperations) {
    std::vector<uint32_t> all(settings.processes ? settings.processes->size() : 1);
    std::iota(all.begin(), all.end(), 0);
    if (executable->state->spansProcesses() && executable->state->processOf != all)
      return invalidArgument("a program that meets others in its operations needs one replica per process, in the order of the processes");
    executable->state->meets = options.meets;
  }
  return executable;
}

uint32_t Executable::memberOf(size_t d) const { return state->members[d]; }

StatusOr<ExecuteResult> Executable::execute(const std::vector<std::vector<BufferPtr>> &arguments,
                                            const ExecuteOptions &options) {
  return launch(assigned, arguments, options);
}

StatusOr<ExecuteResult> Executable::launch(const std::vector<Device *> &devices, const std::vector<std::vector<BufferPtr>> &arguments,
                                           const ExecuteOptions &options) {
  const std::vector<BorrowedArguments> borrowed(arguments.begin(), arguments.end());
  return Launch::start(*this, devices, borrowed, options);
}

StatusOr<ExecuteResult> Executable::executeOn(Device &device, const std::vector<BufferPtr> &arguments,
                                              const ExecuteOptions &options) {
  if (uint64_t needed = uint64_t(program().numReplicas) * program().numPartitions; needed != 1)
    return invalidArgument("a program for " + std::to_string(needed) + " devices cannot run on one");
  Device *const one = &device;
  const BorrowedArguments borrowed(arguments);
  return Launch::start(*this, {&one, 1}, {&borrowed, 1}, options);
}

StatusOr<ExecuteResult> Executable::Launch::start(Executable &executable, std::span<Device *const> devices,
                                                  std::span<const BorrowedArguments> arguments, const ExecuteOptions &options) {
  const std::shared_ptr<State> &state = executable.state;
  const std::shared_ptr<Client> &client = executable.client;
  const uint64_t started = profile::isOn() ? profile::ticks() : 0;
  const Program &p = executable.program();
  const Signature &signature = state->signature;
  if (devices.empty() && arguments.empty()) // only other processes execute the program
    return ExecuteResult();
  if (arguments.size() != devices.size())
    return invalidArgument("expects arguments for " + std::to_string(devices.size()) + " devices, but got " +
                           std::to_string(arguments.size()));
  std::vector<uint8_t> consumes = signature.donated;
  for (uint32_t k : options.nonDonatable)
    if (k < consumes.size())
      consumes[k] = 0;

  StatusOr<std::vector<Launch::Values>> checked = Launch::checkedValues(p, signature, devices, arguments, consumes);
  if (!checked)
    return checked.status();
  std::vector<Launch::Values> &values = *checked;

  if (executable.prepared)
    for (size_t d = 0; d < devices.size(); ++d) {
      StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> more = executable.prepare(*devices[d], arguments[d]);
      if (!more)
        return more.status();
      std::move(more->begin(), more->end(), std::back_inserter(values[d]));
    }

  double timeout = options.timeoutSeconds.value_or(client->options().timeoutSeconds);
  std::shared_ptr<RunContext> context;
  std::unique_lock inOrder(meetings, std::defer_lock);
  const bool isStanding = state->spansProcesses() && state->meets == Meets::InOperations;
  const bool spans = state->spansProcesses() && !isStanding;
  if (state->plan->meetsOthers && isStanding) {
    StatusOr<std::shared_ptr<RunContext>> standing = client->options().processes->replicas(client->options().timeoutSeconds);
    if (!standing)
      return standing.status();
    context = std::move(*standing);
  } else if (state->plan->meetsOthers && !spans) {
    context = std::make_shared<RunContext>(p.numReplicas, p.numPartitions, timeout);
  } else if (state->plan->meetsOthers) {
    MILLRACE_TRY(client->options().processes->connect()); // connecting may take long, and must not block other threads
  }
  // Only a launch under a memory limit needs the flag, which allocate() relies on.
  bool endsByItself = client->options().memoryLimit && !state->plan->mayWaitForCaller;
  for (const Launch::Values &ofDevice : values)
    endsByItself = endsByItself && std::all_of(ofDevice.begin(), ofDevice.end(), [](const auto &value) { return comesByItself(*value); });
  for (Device *device : devices)
    endsByItself = endsByItself && device->endsByItself();
  // The launch comes from a custom call (a Python callback that uses JAX): the device's thread is this one, and waits for the custom call.
  bool isNested = insideCustomCall() && devices.size() == 1;
  // One provision per device, or none.
  std::vector<Provision> provisions = endsByItself ? Launch::provideAll(*state->plan, devices, isNested) : std::vector<Provision>();
  if ((context && devices.size() > 1) || spans || (client->options().memoryLimit && !endsByItself && !isNested))
    inOrder.lock();
  for (Device *device : devices)
    endsByItself = endsByItself && device->endsByItself();
  static std::atomic<int64_t> executions{0};
  int64_t number = ++executions;
  // An execution in which several processes take part has the same numbers in all of them.
  const uint64_t execution[2] = {client->rngSeed, spans ? state->launches++ : client->executions++};
  uint64_t rngSeed = hash64(execution, sizeof execution, spans ? state->plan->agreement : 0);
  if (spans && state->plan->meetsOthers) {
    StatusOr<std::shared_ptr<RunContext>> begun = client->options().processes->launch(
        p.numReplicas, p.numPartitions, state->processOf,
        {state->plan->agreement, options.agreement, options.program.empty() ? "'" + p.name + "'" : options.program, options.agreementOn, options.advice,
         state->argumentTypes, options.agreementParts, options.agreementDifference},
        timeout);
    if (!begun)
      return begun.status().withContext((options.program.empty() ? "'" + p.name + "'" : options.program) + " cannot be launched");
    context = std::move(*begun);
  }
  ExecuteResult result;
  LaunchRecord record(*state->plan, number, started);
  for (size_t d = 0; d < devices.size(); ++d) {
    // The run-time dimensions that follow from the arguments' shapes: they give the results' shapes, and whether the execution costs less than its
    // hand-over.
    std::vector<int64_t> dims;
    bool runsInline = state->runsInline;
    if (state->plan->hasDimsOfArguments && std::all_of(values[d].begin(), values[d].end(), [](const auto &value) { return value->shapeIsKnown; })) {
      std::vector<const std::vector<int64_t> *> shapes;
      for (const auto &value : values[d])
        shapes.push_back(&value->dims);
      StatusOr<std::vector<int64_t>> known = state->plan->dimsFor(shapes);
      if (!known)
        return known.status();
      dims = std::move(*known);
      runsInline = state->onAnyThread && state->plan->picosecondsFor(dims) < kInlinePicoseconds;
    }
    auto launch = std::make_shared<Launch>(state->onAnyThread ? devices[d]->worker() : nullptr);
    launch->state = state;
    launch->context = context;
    launch->allocator = devices[d]->allocator;
    launch->channels = devices[d]->channels;
    launch->replica = state->members[d] / p.numPartitions;
    launch->partition = state->members[d] % p.numPartitions;
    launch->device = devices[d]->id();
    launch->timeoutSeconds = timeout;
    launch->number = number;
    launch->rngSeed = rngSeed;
    launch->launched = started ? profile::ticks() : 0;
    launch->arguments = std::move(values[d]);
    launch->consumed = consumes;
    if (!provisions.empty())
      launch->provision = std::move(provisions[d]);
    for (size_t k = 0; k < consumes.size(); ++k)
      if (consumes[k])
        arguments[d][k]->release();
    std::vector<BufferPtr> &buffers = result.results.emplace_back(launch->makeResults(client, *devices[d], dims));
    result.done.push_back(launch->done.event());
    if (isNested) {
      launch->run();
      continue;
    }
    if (runsInline && (endsByItself || !client->options().memoryLimit) && // otherwise the execution stands in the queue, where all threads can see it
        std::all_of(launch->arguments.begin(), launch->arguments.end(),
                    [](const std::shared_ptr<Buffer::Value> &v) { return v->ready.isReady(); }) &&
        devices[d]->tryInline([&] { launch->run(); }, endsByItself))
      continue;
    if (devices[d]->enqueue([launch] { launch->run(); }, state->onAnyThread, endsByItself))
      for (const BufferPtr &buffer : buffers) // no other thread has the buffers yet
        buffer->value->comesByItself = true;
  }
  return result;
}

} // namespace millrace::runtime

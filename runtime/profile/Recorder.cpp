// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.cpp - What happens in this process, and when ---------------===//
#include "runtime/profile/Recorder.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/profile/MemoryListener.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <unordered_set>

namespace millrace::runtime::profile {

std::atomic<uint64_t> state{0};
thread_local uint64_t waitedTicks = 0;
thread_local constinit const Record *currentStep = nullptr;
thread_local constinit MemoryFor::Use MemoryFor::current{};

namespace {

/// Written by one thread at a time; what lies below `used` does not change any more. A thread that ends hands the room that it leaves on, under the
/// registry's mutex, which orders what it has written before what the next thread writes.
struct Chunk {
  /// Fewer would be asked for more often, more would lie unused in threads that record little. Unit: records. Source: judgement, not measured alone.
  static constexpr uint32_t kRecords = 1024;
  explicit Chunk(uint64_t epoch) : epoch(epoch) {}
  const uint64_t epoch; ///< value of `state` for which it was made
  std::atomic<uint32_t> used{0};
  Record records[kRecords];
};

/// The records of one thread in one chunk.
struct Part {
  std::shared_ptr<Chunk> chunk;
  uint32_t begin = 0, end = Chunk::kRecords; ///< other threads' records lie before, and behind once the thread has ended
};

struct Log {
  int64_t thread = 0;
  std::string name;
  std::shared_ptr<Chunk> current; ///< of its thread alone
  std::vector<Part> parts;        ///< guarded by the registry's mutex, as is the next
  bool isOver = false;
};

/// Returns true for records of what happens inside of an execution or of a step of the front end, of which a program may have thousands.
bool isDetail(Kind kind) {
  switch (kind) {
  case Kind::Region:
  case Kind::Compile:
  case Kind::Cache:
  case Kind::Launch:
  case Kind::Execution:
  case Kind::Transfer: return false;
  case Kind::Tracing:
  case Kind::Kernel:
  case Kind::Step:
  case Kind::Memory:
  case Kind::Piece:
  case Kind::Wait: return true;
  }
  return true;
}

struct Registry {
  std::mutex mutex; ///< guards all below
  std::unordered_set<std::string> names; ///< elements stay where they are
  std::vector<std::shared_ptr<Log>> logs;
  std::vector<std::shared_ptr<Chunk>> spare; ///< with room that threads have left
  std::unordered_map<const void *, uint32_t> devices;
  std::vector<uint64_t> limits; ///< of open sessions
  uint64_t numChunks = 0, generation = 1;
  std::atomic<uint64_t> lost{0};
  std::atomic<uint64_t> detailsLostAt{0}, othersLostAt{0}; ///< ticks, of the first one; 0: none
  std::atomic<bool> isScarce{false}; ///< whether details are lost, so that executions fit until the end

  /// Never destroyed: threads record while the process ends.
  static Registry &get() {
    static Registry *registry = [] {
      auto *made = new Registry;
      pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { get().inChild(); });
      return made;
    }();
    return *registry;
  }

  uint64_t limit() const { return limits.empty() ? 0 : *std::max_element(limits.begin(), limits.end()); }
  /// Logs of threads that have ended stay until the last session ends, so that they count.
  bool hasRoom(uint64_t bytes) const { return numChunks * sizeof(Chunk) + logs.size() * (sizeof(Log) + sizeof(Part)) + bytes <= limit(); }
  /// Adds the current part of a log, which has room.
  void addPart(Log &log, std::shared_ptr<Chunk> chunk) {
    log.current = std::move(chunk);
    log.parts.push_back({log.current, log.current->used.load(std::memory_order_relaxed)});
  }
  /// Called when the limit or the number of chunks has changed.
  void measure() {
    // The share of the memory that details may take. Unit: share. Source: a program of one kernel has four details and two other records per
    // execution, so that what is left has room for as many executions again (benchmarks.recording_cost).
    constexpr double kShareOfDetails = 0.75;
    isScarce.store(double(numChunks * sizeof(Chunk)) > kShareOfDetails * double(limit()), std::memory_order_relaxed);
  }
  void dropAll() {
    for (const std::shared_ptr<Log> &log : logs)
      log->parts.clear();
    std::erase_if(logs, [](const std::shared_ptr<Log> &log) { return log->isOver; });
    spare.clear();
    numChunks = 0;
    forgetLost();
    isScarce.store(false, std::memory_order_relaxed);
  }
  void lose(const Record &record) {
    lost.fetch_add(1, std::memory_order_relaxed);
    std::atomic<uint64_t> &first = isDetail(record.kind) ? detailsLostAt : othersLostAt;
    for (uint64_t known = first.load(std::memory_order_relaxed); !known || record.end < known;)
      if (first.compare_exchange_weak(known, record.end, std::memory_order_relaxed))
        return;
  }
  void forgetLost() {
    for (std::atomic<uint64_t> *each : {&lost, &detailsLostAt, &othersLostAt})
      each->store(0, std::memory_order_relaxed);
  }
  void inChild();
};

/// Of this thread. Its memory belongs to the registry, so that it outlives the thread.
thread_local Log *ownLog = nullptr;
thread_local bool isLeaving = false; ///< the thread's other objects are being destroyed

struct Leaver {
  ~Leaver() {
    isLeaving = true;
    if (!ownLog)
      return;
    Registry &registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    ownLog->isOver = true;
    std::shared_ptr<Chunk> chunk = std::move(ownLog->current);
    if (chunk && !ownLog->parts.empty() && ownLog->parts.back().chunk == chunk) { // no session's end has dropped it
      const uint32_t used = ownLog->parts.back().end = chunk->used.load(std::memory_order_relaxed);
      if (used < Chunk::kRecords)
        registry.spare.push_back(std::move(chunk));
    }
    if (registry.limits.empty())
      std::erase_if(registry.logs, [](const std::shared_ptr<Log> &log) { return log.get() == ownLog; });
    ownLog = nullptr;
  }
};

/// Handlers of forks run in the reverse order of their registration. Those of the background wait for its job, which may record: this one must not
/// hold the mutex then, so it is registered before all of them, when the library is loaded.
[[maybe_unused]] const Registry &registeredFirst = Registry::get();

//===--- The pool ----------------------------------------------------------===//

/// Of ranges that belong to no step: of a library that the host uses.
constexpr Record kNoStep;

Record partOf(const void *step, Kind kind, uint64_t begin) {
  const Record &whole = *static_cast<const Record *>(step);
  Record record;
  record.kind = kind;
  record.what = whole.what;
  record.index = whole.index;
  record.device = whole.device;
  record.a = whole.a;
  record.b = whole.kind == Kind::Kernel;
  record.start = begin;
  record.end = ticks();
  return record;
}

/// Fact: what the pool calls.
constexpr PoolObserver kPoolObserver{
    [] { return isOn() ? static_cast<const void *>(currentStep ? currentStep : &kNoStep) : nullptr; },
    [] { return ticks(); },
    [](const void *step, uint64_t begin, uint64_t pieces) {
      Record record = partOf(step, Kind::Piece, begin);
      record.c = pieces;
      append(record);
    },
    [](const void *step, uint64_t begin) {
      // Shorter waits, of less than some microsecond, are not recorded. Unit: ticks. Source: judgement, not measured alone.
      constexpr uint64_t kWorthSaying = 2048;
      if (Record record = partOf(step, Kind::Wait, begin); record.end - record.start >= kWorthSaying)
        append(record);
    },
};
[[maybe_unused]] const bool isObserved = [] {
  ThreadPool::observer = &kPoolObserver;
  return true;
}();

int64_t threadId() { return int64_t(syscall(SYS_gettid)); }

void Registry::inChild() {
  state.store((state.load(std::memory_order_relaxed) | 1) + 1, std::memory_order_relaxed);
  ++generation;
  limits.clear();
  for (const std::shared_ptr<Log> &log : logs)
    log->isOver = log.get() != ownLog; // other threads do not exist here
  dropAll();
  if (ownLog) {
    ownLog->thread = threadId();
    ownLog->current.reset();
  }
  mutex.unlock();
}

/// A chunk with room for one record, or null. The first one of a thread is what another one that has ended left, if there is any: programs that begin
/// a thread per task would else fill the memory with chunks that hold a few records each.
Chunk *moreRoom(uint64_t epoch) {
  if (isLeaving)
    return nullptr;
  Registry &registry = Registry::get();
  auto isPast = [&] { return state.load(std::memory_order_relaxed) != epoch; };
  auto takeSpare = [&]() -> Chunk * {
    if (registry.spare.empty())
      return nullptr;
    registry.addPart(*ownLog, std::move(registry.spare.back()));
    registry.spare.pop_back();
    return ownLog->current.get();
  };
  if (!ownLog) {
    static thread_local Leaver leaver;
    (void)leaver;
    auto log = std::make_shared<Log>();
    log->thread = threadId();
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    log->name = name;
    std::lock_guard lock(registry.mutex);
    // A log without a record is of no use to anybody.
    const uint64_t more = sizeof(Log) + sizeof(Part) + (registry.spare.empty() ? sizeof(Chunk) : 0);
    if (isPast() || !registry.hasRoom(more))
      return nullptr;
    registry.logs.push_back(log);
    ownLog = log.get();
  }
  {
    std::lock_guard lock(registry.mutex);
    if (isPast())
      return nullptr;
    // A thread that has filled a chunk would soon fill what others left.
    const bool isNew = ownLog->parts.empty(), fits = registry.hasRoom(sizeof(Chunk));
    if (Chunk *left = isNew || !fits ? takeSpare() : nullptr)
      return left;
    if (!fits)
      return nullptr;
  }
  auto made = std::make_shared<Chunk>(epoch); // touches its pages, without the mutex
  std::lock_guard lock(registry.mutex);
  if (isPast() || !registry.hasRoom(sizeof(Chunk)))
    return nullptr;
  registry.addPart(*ownLog, std::move(made));
  ++registry.numChunks;
  registry.measure();
  return ownLog->current.get();
}

} // namespace

const Name *intern(std::string_view text) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  return &*registry.names.emplace(text).first;
}

void append(const Record &record) {
  const uint64_t now = state.load(std::memory_order_relaxed);
  if (!(now & 1))
    return;
  static Registry &registry = Registry::get();
  if (registry.isScarce.load(std::memory_order_relaxed) && isDetail(record.kind)) [[unlikely]] {
    registry.lose(record);
    return;
  }
  Chunk *chunk = ownLog ? ownLog->current.get() : nullptr;
  if (!chunk || chunk->epoch != now || chunk->used.load(std::memory_order_relaxed) == Chunk::kRecords) [[unlikely]] {
    chunk = moreRoom(now);
    if (!chunk) {
      if (state.load(std::memory_order_relaxed) == now)
        registry.lose(record);
      return;
    }
  }
  const uint32_t used = chunk->used.load(std::memory_order_relaxed);
  chunk->records[used] = record;
  chunk->used.store(used + 1, std::memory_order_release);
}

void ScopedRecord::finish() {
  record.end = ticks();
  append(record);
}
void Scope::rename(std::string_view name) {
  if (isRecorded())
    record.what = intern(name);
}
uint64_t Scope::addressOf(std::string_view detail) {
  return detail.empty() ? 0 : uint64_t(reinterpret_cast<uintptr_t>(intern(detail)));
}

std::string asDetail(std::string_view value) {
  std::string text;
  for (size_t i = 0; i < value.size(); ++i)
    text += value[i] == '=' ? ':' : value[i] == ',' && i + 1 < value.size() && value[i + 1] == ' ' ? ';' : value[i] == '\n' ? ' ' : value[i];
  return text;
}

const char *nameOf(Purpose purpose) {
  const char *const names[] = {"other", "upload", "copy", "result", "intermediate", "dynamic"};
  return names[size_t(purpose)];
}

static std::atomic<const Name *(*)()> placeSource{nullptr};
void setPlaceSource(const Name *(*source)()) { placeSource.store(source, std::memory_order_release); }
const Name *currentPlace() {
  auto *source = isOn() ? placeSource.load(std::memory_order_acquire) : nullptr;
  return source ? source() : nullptr;
}

static std::atomic<MemoryListener> memoryListener{nullptr};
void setMemoryListener(MemoryListener listener) { memoryListener.store(listener, std::memory_order_release); }
void tellOfMemory(const void *allocator, void *data, int64_t bytes, uint64_t inUse) {
  const MemoryListener listener = memoryListener.load(std::memory_order_acquire);
  if (!listener)
    return;
  uint32_t device;
  {
    Registry &registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    auto found = registry.devices.find(allocator);
    if (found == registry.devices.end())
      return;
    device = found->second;
  }
  listener(device, data, bytes, inUse);
}

static thread_local std::vector<Record> regions;

void beginRegion(std::string_view name, std::string_view details) {
  Record &record = regions.emplace_back();
  if (!isOn())
    return;
  record.kind = Kind::Region;
  record.what = intern(name);
  if (!details.empty())
    record.a = uint64_t(reinterpret_cast<uintptr_t>(intern(details)));
  record.start = ticks();
}

bool endRegion() {
  if (regions.empty())
    return false;
  Record record = regions.back();
  regions.pop_back();
  if (record.start) {
    record.end = ticks();
    append(record);
  }
  return true;
}

void nameAllocator(const void *allocator, uint32_t device) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  registry.devices[allocator] = device;
}

size_t Recording::numRecords() const {
  size_t count = 0;
  for (const Thread &thread : threads)
    count += thread.records.size();
  return count;
}

Session::Anchor Session::Anchor::now() {
  auto nanoseconds = [](clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  // The readings belong together as far as nobody came between them: the narrowest of several counts.
  Anchor best;
  uint64_t width = ~uint64_t(0);
  for (int i = 0; i < 8; ++i) {
    uint64_t before = ticks();
    int64_t monotonic = nanoseconds(CLOCK_MONOTONIC), realtime = nanoseconds(CLOCK_REALTIME);
    uint64_t after = ticks();
    if (after - before < width) {
      width = after - before;
      best = {before + width / 2, monotonic, realtime};
    }
  }
  return best;
}

Session::Session(uint64_t maxBytes) : begin(Anchor::now()) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  generation = registry.generation;
  registry.limits.push_back(maxBytes);
  registry.measure();
  if (registry.limits.size() == 1) {
    registry.forgetLost(); // some may have come late to the session before
    state.store((state.load(std::memory_order_relaxed) + 1) | 1, std::memory_order_release);
  }
  limit = maxBytes;
}

Session::~Session() {
  if (isOpen)
    stop();
}

Recording Session::stop() {
  Recording recording;
  if (!isOpen)
    return recording;
  isOpen = false;
  // The rate of ticks is known to a part in 10^5 after so long. Unit: nanoseconds. Source: judgement, not measured alone.
  constexpr int64_t kLeastNs = 5'000'000;
  const uint64_t last = ticks();
  Anchor end = Anchor::now();
  const int64_t endNs = end.realtimeNs;
  if (int64_t missing = kLeastNs - (end.monotonicNs - begin.monotonicNs); missing > 0) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(missing));
    end = Anchor::now();
  }
  recording.timeline = {begin.at, begin.realtimeNs, endNs,
                        double(end.monotonicNs - begin.monotonicNs) / double(std::max<uint64_t>(1, end.at - begin.at))};
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  if (registry.generation != generation)
    return recording;
  for (const std::shared_ptr<Log> &log : registry.logs) {
    Recording::Thread thread{log->thread, log->name, {}};
    size_t most = 0;
    for (const Part &part : log->parts)
      most += std::min(part.end, part.chunk->used.load(std::memory_order_acquire)) - part.begin;
    thread.records.reserve(most);
    for (const Part &part : log->parts) {
      const uint32_t end = std::min(part.end, part.chunk->used.load(std::memory_order_acquire));
      for (uint32_t i = part.begin; i < end; ++i)
        if (const Record &record = part.chunk->records[i]; record.end >= begin.at && record.start <= last)
          thread.records.push_back(record);
    }
    if (!thread.records.empty())
      recording.threads.push_back(std::move(thread));
  }
  recording.devices = registry.devices;
  recording.lost = registry.lost.load(std::memory_order_relaxed);
  recording.detailsLostAt = registry.detailsLostAt.load(std::memory_order_relaxed);
  recording.othersLostAt = registry.othersLostAt.load(std::memory_order_relaxed);
  registry.limits.erase(std::find(registry.limits.begin(), registry.limits.end(), limit));
  if (registry.limits.empty()) {
    state.store(state.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); // the next time has another number
    registry.dropAll();
  } else {
    registry.measure();
  }
  return recording;
}

} // namespace millrace::runtime::profile

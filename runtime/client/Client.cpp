// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Client.cpp - Devices and their threads ------------------------------===//
#include "runtime/client/Client.h"
#include "runtime/base/Environment.h"
#include "runtime/client/DeviceErrors.h"
#include "runtime/client/Executor.h"
#include "runtime/collective/Processes.h"
#include "runtime/profile/Environment.h"
#include "runtime/profile/Recorder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>
#include <unistd.h>

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;
/// A client that waits within this time after a launch had no other work. Unit: microseconds. Source: judgement, not measured alone; chosen in commit
/// f7caa64.
constexpr auto kSoon = std::chrono::microseconds(20);
/// A client that has waited at once this often runs the program on its own thread. Unit: waits in a row. Source: judgement, not measured alone;
/// chosen in commit f7caa64.
constexpr int kWaitsUntilOwnThread = 4;
/// A client that waited late for a program which its own thread ran lost the time in between; it waits this often at once before that is tried again.
/// Unit: waits. Source: judgement: with kWaitsUntilOwnThread, one launch in 20 at most starts late.
constexpr int kWaitsAfterLateOne = 16;
/// A client that waits within this share of the time that the last task took had no other work worth a thread, however long its own calls take.
/// Unit: 1. Source: arithmetic, a thread that begins so much later costs a sixteenth at most.
constexpr int kSoonPerTask = 16;

/// Marks the lifetime of a task of some device on this thread.
struct InsideTask {
  InsideTask() { ++depth; }
  InsideTask(const InsideTask &) = delete;
  ~InsideTask() { --depth; }
  static inline thread_local int depth = 0;
};

} // namespace

/// The queue of a device's tasks and the thread that runs them. Waking the thread costs its client more than 10 microseconds, and as much on a busy
/// processor. Therefore a client that has waited at once for its launches several times in a row computes them on its own thread; the device's thread
/// is woken when a client polls an event without waiting, or launches more. The thread owns the queue, not the device, because the last reference to
/// a client may be dropped in a task, on any thread.
struct Device::Queue final : Event::Worker {
  struct Task {
    std::function<void()> run;
    bool onAnyThread, endsByItself;
    Clock::time_point when = Clock::now();
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  bool busy = false; ///< a task runs, on the device's thread or inline
  bool runningEndsByItself = false; ///< of the running task
  bool stopping = false;
  unsigned waitingForMemory = 0; ///< threads in awaitEnd()
  uint64_t begun = 0, ended = 0; ///< numbers of tasks that were enqueued, and that have run
  int waits = 0; ///< launches in a row whose client waited at once, at most kWaitsUntilOwnThread; negative after a late wait
  Clock::duration lastTask{}; ///< what the last task of the queue took
  bool threadStarted = false;
  std::thread thread;

  static void loop(std::shared_ptr<Queue> self) {
    std::unique_lock lock(self->mutex);
    while (true) {
      self->changed.wait(lock, [&] { return !self->busy && (!self->tasks.empty() || self->stopping); });
      if (self->tasks.empty())
        return;
      std::function<void()> task = self->takeFirst();
      lock.unlock();
      const Clock::time_point start = Clock::now();
      runAndDrop(task);
      const Clock::duration taken = Clock::now() - start;
      lock.lock();
      self->lastTask = taken;
      self->busy = false;
      ++self->ended;
      self->changed.notify_all();
    }
  }

  /// Lets a thread that waits for one of the tasks run the first task of the queue: tasks run in order.
  bool workOnce() override {
    std::function<void()> task;
    const Clock::time_point start = Clock::now();
    {
      std::lock_guard lock(mutex);
      if (busy || tasks.empty() || !tasks.front().onAnyThread)
        return false;
      const bool isSoon = start - tasks.front().when < std::max<Clock::duration>(kSoon, lastTask / kSoonPerTask);
      const bool wasDelayed = waits == kWaitsUntilOwnThread;
      waits = isSoon ? std::min(waits + 1, kWaitsUntilOwnThread) : wasDelayed ? -kWaitsAfterLateOne : std::min(waits, 0);
      task = takeFirst();
    }
    runAndDrop(task);
    finishOnOtherThread(Clock::now() - start);
    return true;
  }

  void begin() override {
    {
      std::lock_guard lock(mutex);
      waits = 0;
      if (busy || tasks.empty())
        return;
    }
    changed.notify_all();
  }

  static void runAndDrop(std::function<void()> &task) {
    InsideTask inside;
    task();
    task = nullptr;
  }

  std::function<void()> takeFirst() {
    std::function<void()> task = std::move(tasks.front().run);
    runningEndsByItself = tasks.front().endsByItself;
    tasks.pop_front();
    busy = true;
    return task;
  }

  /// `taken`: the time of a task from the queue; none for what ran inline, mostly small copies.
  void finishOnOtherThread(std::optional<Clock::duration> taken = std::nullopt) {
    bool waiting;
    {
      std::lock_guard lock(mutex);
      lastTask = taken.value_or(lastTask);
      busy = false;
      ++ended;
      waiting = !tasks.empty() || stopping || waitingForMemory;
    }
    if (waiting)
      changed.notify_all();
  }

  bool allEndByThemselves() const {
    return (!busy || runningEndsByItself) && std::all_of(tasks.begin(), tasks.end(), [](const Task &task) { return task.endsByItself; });
  }

  /// Waits until more than `before` tasks have ended. Returns false at `deadline`, or if the next task may wait for its caller, or if there is none.
  bool awaitEnd(uint64_t before, Clock::time_point deadline) {
    begin();
    std::unique_lock lock(mutex);
    ++waitingForMemory;
    changed.wait_until(lock, deadline, [&] {
      bool isPromised = busy ? runningEndsByItself : !tasks.empty() && tasks.front().endsByItself;
      return ended > before || !isPromised;
    });
    --waitingForMemory;
    return ended > before;
  }
};

std::shared_ptr<Event::Worker> Device::worker() const { return queue; }

Device::Device(Client *owner, uint32_t ordinal, const ClientOptions &options)
    : owner(owner), ordinal(ordinal), memoryLimit(options.memoryLimit), timeoutSeconds(options.timeoutSeconds),
      allocator(std::make_shared<Allocator>(options.memoryLimit)), channels(std::make_shared<HostChannels>()),
      queue(std::make_shared<Queue>()) {
  const char *const kinds[] = {"device", "pinned_host", "unpinned_host"};
  for (uint32_t i = 0; i < 3; ++i)
    spaces.push_back({ordinal * 3 + i, kinds[i], this});
  profile::nameAllocator(allocator.get(), ordinal);
}

Device::~Device() {
  std::unique_lock lock(queue->mutex);
  queue->stopping = true;
  queue->changed.notify_all();
  if (!queue->threadStarted)
    return;
  std::thread thread = std::move(queue->thread);
  lock.unlock();
  // A task whose callbacks dropped the client cannot wait for its own end, nor for other devices, which may wait for this one in a rendezvous.
  if (InsideTask::depth)
    thread.detach();
  else
    thread.join();
}

const MemorySpace *Device::memory(std::string_view kind) const {
  for (const MemorySpace &space : spaces)
    if (space.kind == kind)
      return &space;
  return nullptr;
}

bool Device::enqueue(std::function<void()> task, bool onAnyThread, bool endsByItself) {
  {
    std::lock_guard lock(queue->mutex);
    endsByItself = endsByItself && queue->allEndByThemselves();
    queue->tasks.push_back({std::move(task), onAnyThread, endsByItself});
    ++queue->begun;
    if (onAnyThread && queue->waits >= kWaitsUntilOwnThread && queue->tasks.size() == 1 && !queue->busy)
      return endsByItself;
    if (queue->tasks.size() > 1)
      queue->waits = 0;
    if (!queue->threadStarted) {
      queue->threadStarted = true;
      queue->thread = std::thread(Queue::loop, queue);
    }
  }
  queue->changed.notify_all();
  return endsByItself;
}

bool Device::endsByItself() const {
  std::lock_guard lock(queue->mutex);
  return queue->allEndByThemselves();
}

bool Device::tryInline(const std::function<void()> &task, bool endsByItself) {
  {
    std::lock_guard lock(queue->mutex);
    if (queue->busy || !queue->tasks.empty())
      return false;
    queue->busy = true;
    queue->runningEndsByItself = endsByItself;
    ++queue->begun;
  }
  std::shared_ptr<Queue> held = queue;
  {
    InsideTask inside;
    task();
  }
  held->finishOnOtherThread();
  return true;
}

template <typename Attempt>
auto Device::awaitMemory(uint64_t bytes, Attempt attempt) -> decltype(attempt()) {
  auto counts = [&] {
    std::lock_guard lock(queue->mutex);
    return std::pair(queue->begun, queue->ended);
  };
  // A task must not wait for other tasks; without a limit, no memory is worth waiting for.
  bool mayWait = memoryLimit && bytes <= memoryLimit && !InsideTask::depth;
  uint64_t last = mayWait ? counts().first : 0;
  Clock::time_point deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeoutSeconds));
  while (true) {
    uint64_t ended = mayWait ? counts().second : 0; // read before the attempt: a task that ends during the attempt justifies another one
    auto memory = attempt();
    if (memory || ended >= last || !queue->awaitEnd(ended, deadline))
      return memory;
  }
}

StatusOr<std::shared_ptr<Storage>> Device::allocate(uint64_t bytes) {
  StatusOr<std::shared_ptr<Storage>> storage = awaitMemory(bytes, [&] { return Storage::allocate(allocator, bytes); });
  return storage ? std::move(storage) : StatusOr<std::shared_ptr<Storage>>(onDevice(ordinal, storage.status()));
}

std::shared_ptr<Arena> Device::lendArena(uint64_t bytes, bool isQueued) {
  return awaitMemory(bytes, [&]() -> std::shared_ptr<Arena> {
    std::lock_guard lock(arenaMutex);
    if (isQueued)
      if (std::shared_ptr<Arena> queued = queuedArena.lock(); queued && queued->size() >= bytes)
        return queued;
    StatusOr<Arena> lent = allocator->lend(bytes);
    if (!lent)
      return nullptr;
    // The arena keeps its allocator alive, for it may hold the last reference to the device.
    auto arena = std::shared_ptr<Arena>(new Arena(std::move(*lent)), [allocator = allocator](Arena *each) { delete each; });
    if (isQueued)
      queuedArena = arena;
    return arena;
  });
}

void Device::feed(std::vector<std::string> tensors) { channels->push(HostChannels::infeed, std::move(tensors)); }
void Device::sendToProgram(int64_t channel, std::vector<std::string> tensors) {
  channels->push(channel, std::move(tensors));
}
StatusOr<std::vector<std::string>> Device::takeOutfeed() { return channels->pop(HostChannels::outfeed, timeoutSeconds); }
StatusOr<std::vector<std::string>> Device::receiveFromProgram(int64_t channel) {
  return channels->pop(channel, timeoutSeconds);
}

StatusOr<uint64_t> memoryLimitFromEnvironment() {
  const std::string text = environment::text("MILLRACE_MEMORY_LIMIT");
  if (text.empty())
    return uint64_t(0);
  uint64_t limit = 0;
  const char *end = text.data() + text.size();
  if (auto [at, error] = std::from_chars(text.data(), end, limit); error != std::errc() || at != end)
    return invalidArgument("MILLRACE_MEMORY_LIMIT: expects a number of bytes, but got '" + text + "'");
  return limit;
}

StatusOr<double> collectiveTimeoutFromEnvironment() {
  const std::string text = environment::text("MILLRACE_COLLECTIVE_TIMEOUT");
  if (text.empty())
    return ClientOptions().timeoutSeconds;
  char *end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  if (*end || !(seconds > 0 && seconds < 1e9))
    return invalidArgument("MILLRACE_COLLECTIVE_TIMEOUT: expects a number of seconds, but got '" + text + "'");
  return seconds;
}

uint64_t freshSeed() {
  // std::random_device is no choice: libstdc++'s needs glibc 2.36 when it is linked statically, as in wheels.
  uint64_t seed = 0;
  if (getentropy(&seed, sizeof seed) != 0) // a sandbox may forbid the system call
    seed = uint64_t(std::chrono::system_clock::now().time_since_epoch().count()) * 0x9E3779B97F4A7C15u ^ uint64_t(getpid());
  return seed;
}

Client::Client(const ClientOptions &options)
    : settings(options), rngSeed(options.rngSeed ? *options.rngSeed : freshSeed()), firstIds{0} {
  for (uint32_t count : options.devicesOf.empty() ? std::vector<uint32_t>{options.numDevices} : options.devicesOf)
    firstIds.push_back(firstIds.back() + count);
}

Client::~Client() {
  all.clear(); // executions in flight end first
  if (settings.processes)
    settings.processes->stop();
}

uint32_t Client::processIndex() const { return settings.processes ? settings.processes->rank() : 0; }

uint32_t Client::processOf(uint32_t id) const {
  return uint32_t(std::upper_bound(firstIds.begin(), firstIds.end(), id) - firstIds.begin()) - 1;
}

Device *Client::device(uint32_t id) const {
  uint32_t first = firstIds[processIndex()];
  return id >= first && id - first < all.size() ? all[id - first].get() : nullptr;
}

StatusOr<std::shared_ptr<Client>> Client::create(const ClientOptions &options) {
  if (options.numDevices == 0 || options.numDevices > kMaxDevices)
    return invalidArgument("expects between 1 and " + std::to_string(kMaxDevices) + " devices, but got " + std::to_string(options.numDevices));
  if (options.processes && (options.devicesOf.size() != options.processes->size() ||
                            options.devicesOf[options.processes->rank()] != options.numDevices || !options.rngSeed))
    return invalidArgument("the client of several processes needs the number of devices of each, and the rngSeed that they share");
  MILLRACE_TRY(profile::startFromEnvironment(options.processes ? options.processes->rank() : 0));
  std::shared_ptr<Client> client(new Client(options));
  for (uint32_t i = 0; i < options.numDevices; ++i)
    client->all.emplace_back(new Device(client.get(), client->firstIds[client->processIndex()] + i, options));
  return client;
}

} // namespace millrace::runtime

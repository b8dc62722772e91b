// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadPool.cpp - Threads that run pieces of kernel ranges -----------===//
// A job lives on its caller's stack and is found by its slot, which belongs to the pool: a worker counts itself in, and the caller that has
// closed the slot waits until nobody is inside. No mutex on the way: caller and workers finish at the same moment, and whoever came second
// would be put to sleep by the system for longer than a small kernel takes. Every thread has a share of consecutive pieces, the same in
// every run of a kernel, so that what it touched the last time is in its caches and its part of memory is one that pages and prefetchers
// like; who is done with its share takes pieces of others'. A piece is claimed with one fetch_add.
#include "runtime/base/ThreadPool.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/FloatModes.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <pthread.h>

namespace millrace::runtime {
namespace {

constexpr int spinRounds = 1500; // some 30 to 60 microseconds
constexpr unsigned maxShares = 64;

/// The share with which this thread begins: workers count from 1, every other thread is the caller of its job and takes the first.
thread_local unsigned ownShare = 0;

} // namespace

struct ThreadPool::Job {
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t begin, end;
    /// The piece as far from the end as the one that begins at `claimed` is from the beginning.
    int64_t mirrored(int64_t claimed, int64_t piece) const { return begin + (end - 1 - claimed) / piece * piece; }
  };
  Body body;
  void *context;
  int64_t piece;
  bool isBackward;
  unsigned shareCount;
  Share *shares; ///< shareCount of them
  alignas(64) std::atomic<int32_t> error{0};

  /// `memory` has room for `threads` shares; only those that are used are touched.
  Job(Body body, void *context, int64_t end, int64_t piece, bool isBackward, unsigned threads, void *memory)
      : body(body), context(context), piece(piece), isBackward(isBackward), shares(static_cast<Share *>(memory)) {
    int64_t pieces = (end - 1) / piece + 1;
    shareCount = unsigned(std::min<int64_t>(pieces, threads));
    // The first `longer` shares have one piece more.
    int64_t each = pieces / shareCount, longer = pieces % shareCount, begin = 0;
    for (unsigned i = 0; i < shareCount; ++i) {
      int64_t last = begin + each + (i < longer);
      new (&shares[i]) Share{begin * piece, begin * piece, std::min(end, last * piece)};
      begin = last;
    }
  }

  bool hasUnclaimed() const {
    return std::any_of(shares, shares + shareCount,
                       [](const Share &share) { return share.next.load(std::memory_order_relaxed) < share.end; });
  }
};

/// `state` counts the workers inside and says what the slot is used for. It changes by adding and removing bits only: workers that saw an
/// earlier job may still count themselves in and out.
struct alignas(64) ThreadPool::Slot {
  static constexpr uint32_t taken = 1u << 31;  ///< by a caller
  static constexpr uint32_t open = 1u << 30;   ///< `job` is there
  static constexpr uint32_t asleep = 1u << 29; ///< the caller waits on `done`
  static constexpr uint32_t inside = asleep - 1;
  std::atomic<uint32_t> state{0};
  Job *job = nullptr;
  alignas(64) std::mutex mutex;
  std::condition_variable done;

  /// The job, which stays until leave(); null if there is none.
  Job *enter() {
    if (!(state.load(std::memory_order_seq_cst) & open))
      return nullptr;
    if (state.fetch_add(1, std::memory_order_acquire) & open)
      return job;
    leave();
    return nullptr;
  }
  void leave() {
    uint32_t before = state.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & inside) != 1 || !(before & asleep))
      return;
    std::lock_guard lock(mutex);
    done.notify_one();
  }
  /// Returns when all have left, and gives the slot back.
  void close() {
    state.fetch_and(~open, std::memory_order_acq_rel);
    auto isEmpty = [&] { return (state.load(std::memory_order_acquire) & inside) == 0; };
    for (int i = 0; i < spinRounds && !isEmpty(); ++i)
      spinPause();
    if (!isEmpty()) {
      std::unique_lock lock(mutex);
      state.fetch_or(asleep, std::memory_order_acq_rel);
      done.wait(lock, isEmpty);
    }
    state.fetch_and(~(taken | asleep), std::memory_order_release);
  }
};

ThreadPool::ThreadPool(unsigned threads) : threadCount(std::max(1u, threads)), slots(new Slot[slotCount]) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

ThreadPool &ThreadPool::global() {
  static ThreadPool *pool = [] {
    auto *created = new ThreadPool(defaultThreadCount());
    pthread_atfork(nullptr, nullptr, [] { global().disabled = true; });
    return created;
  }();
  return *pool;
}

void ThreadPool::startWorkers() {
  std::lock_guard lock(mutex);
  if (started.load(std::memory_order_relaxed))
    return;
  try {
    for (unsigned i = 1; i < threadCount; ++i)
      workers.emplace_back([this, i] {
        const DefaultFloatModes modes; // not those of whoever came first
        ownShare = i;
        work();
      });
  } catch (const std::system_error &) {
    // The system gives no more threads: the caller and those that started do the work.
  }
  started.store(true, std::memory_order_release);
}

void ThreadPool::help(Job &job) {
  for (unsigned i = 0; i < job.shareCount; ++i) {
    Job::Share &share = job.shares[(ownShare + i) % job.shareCount];
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      if (job.error.load(std::memory_order_relaxed) != 0)
        return;
      int64_t begin = share.next.fetch_add(job.piece, std::memory_order_relaxed);
      if (begin >= share.end)
        break;
      if (job.isBackward)
        begin = share.mirrored(begin, job.piece);
      if (int32_t code = job.body(job.context, begin, std::min(begin + job.piece, share.end)))
        job.error.store(code, std::memory_order_relaxed);
    }
  }
}

bool ThreadPool::workOnce() {
  for (unsigned i = 0; i < slotCount; ++i)
    if (Job *job = slots[i].enter()) {
      bool found = job->hasUnclaimed();
      if (found)
        help(*job);
      slots[i].leave();
      if (found)
        return true;
    }
  return false;
}

bool ThreadPool::hasWork() {
  for (unsigned i = 0; i < slotCount; ++i)
    if (Job *job = slots[i].enter()) {
      bool found = job->hasUnclaimed();
      slots[i].leave();
      if (found)
        return true;
    }
  return false;
}

void ThreadPool::work() {
  while (true) {
    // Before the search: a job that comes after it counts as new. One that has no pieces left, but whose caller still works on
    // its last, must not end the spinning: the next kernel of the program would find everybody asleep.
    unsigned seen = openJobs.load(std::memory_order_acquire);
    if (workOnce())
      continue;
    bool found = false;
    spinning.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < spinRounds && !found; ++i) {
      found = openJobs.load(std::memory_order_relaxed) != seen || stopping.load(std::memory_order_relaxed);
      spinPause();
    }
    spinning.fetch_sub(1, std::memory_order_relaxed);
    if (found && !stopping.load(std::memory_order_relaxed))
      continue;
    std::unique_lock lock(mutex);
    if (stopping)
      return;
    // Either this thread sees the slot that a caller opened, or the caller sees that somebody is parked.
    parked.fetch_add(1, std::memory_order_seq_cst);
    wake.wait(lock, [&] { return stopping.load(std::memory_order_relaxed) || hasWork(); });
    parked.fetch_sub(1, std::memory_order_relaxed);
    if (stopping)
      return;
  }
}

int32_t ThreadPool::run(int64_t end, int64_t piece, Body body, void *context, bool isBackward) {
  if (end <= 0)
    return 0;
  if (piece >= end || size() == 1)
    return body(context, 0, end);
  if (!started.load(std::memory_order_acquire))
    startWorkers();
  Slot *slot = takeSlot();
  if (!slot) // more callers than slots: all processors have work
    return body(context, 0, end);
  alignas(Job::Share) std::byte memory[maxShares * sizeof(Job::Share)];
  Job job(body, context, end, std::max<int64_t>(1, piece), isBackward, std::min(threadCount, maxShares), memory);
  slot->job = &job;
  slot->state.fetch_or(Slot::open, std::memory_order_seq_cst);
  openJobs.fetch_add(1, std::memory_order_seq_cst);
  if (unsigned sleepers = parked.load(std::memory_order_seq_cst)) {
    int64_t others = (end - 1) / job.piece; // besides the caller's first
    { std::lock_guard lock(mutex); }        // who has counted itself waits by now
    for (int64_t count = std::min<int64_t>(sleepers, others); count > 0; --count)
      wake.notify_one();
  }
  help(job);
  slot->close();
  return job.error.load(std::memory_order_relaxed);
}

ThreadPool::Slot *ThreadPool::takeSlot() {
  for (unsigned i = 0; i < slotCount; ++i) {
    uint32_t free = 0;
    if (slots[i].state.compare_exchange_strong(free, Slot::taken, std::memory_order_acquire, std::memory_order_relaxed))
      return &slots[i];
  }
  return nullptr;
}

uint64_t ThreadPool::leastPiece(bool isRepeated, uint64_t total) {
  constexpr int64_t soon = 20'000; // nanoseconds after the end of the job before: a worker that is woken now still spins
  if (isRepeated || spinning.load(std::memory_order_relaxed))
    return leastPieceAwake;
  if (total < 2 * leastPieceAwake || total >= 2 * leastPieceAsleep)
    return leastPieceAsleep;
  int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  int64_t last = lastSmall.exchange(now, std::memory_order_relaxed);
  return now - last < soon + int64_t(total / 1000) ? leastPieceAwake : leastPieceAsleep;
}

int64_t pieceSize(int64_t end, uint64_t picosecondsPerIteration, uint64_t granularity, unsigned threads, uint64_t minPiecePicoseconds) {
  if (threads <= 1 || picosecondsPerIteration == 0 || end <= 1)
    return end;
  unsigned __int128 total = (unsigned __int128)picosecondsPerIteration * uint64_t(end);
  if (total < 2 * minPiecePicoseconds)
    return end;
  // As many pieces for one thread as for another, if there is no more than a handful.
  uint64_t pieces = uint64_t(std::min<unsigned __int128>(total / minPiecePicoseconds, 4 * uint64_t(threads)));
  if (pieces > threads)
    pieces -= pieces % threads;
  uint64_t piece = (uint64_t(end) + pieces - 1) / pieces;
  granularity = std::max<uint64_t>(1, granularity);
  if (piece > uint64_t(end) || granularity > uint64_t(end))
    return end;
  piece = (piece + granularity - 1) / granularity * granularity;
  return int64_t(std::min(piece, uint64_t(end)));
}

void *threadScratch(size_t bytes) {
  struct Scratch {
    void *data = nullptr;
    size_t size = 0;
    ~Scratch() { std::free(data); }
  };
  thread_local Scratch scratch;
  if (scratch.size < bytes) {
    std::free(scratch.data);
    size_t size = (bytes + 4095) / 4096 * 4096;
    scratch.data = std::aligned_alloc(64, size);
    scratch.size = scratch.data ? size : 0;
  }
  return scratch.data;
}

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadPool.cpp - Threads that run pieces of kernel ranges -----------===//
// A job lives on its caller's stack. Workers join it under the mutex while it is in `jobs`; the caller removes it and
// then waits until nobody is inside. Every thread has a share of consecutive pieces, the same in every run of a kernel, so that what it
// touched the last time is in its caches and its part of memory is one that pages and prefetchers like; who is done with its share takes
// pieces of others'. A piece is claimed with one fetch_add.
#include "runtime/base/ThreadPool.h"
#include "runtime/base/Cpu.h"

#include <algorithm>
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
    int64_t end;
  };
  Body body;
  void *context;
  int64_t piece;
  unsigned shareCount;
  Share *shares; ///< shareCount of them
  alignas(64) std::atomic<int32_t> error{0};
  std::atomic<int> inside{0}; ///< workers; raised under the mutex
  std::mutex mutex;
  std::condition_variable done;

  /// `memory` has room for `threads` shares; only those that are used are touched.
  Job(Body body, void *context, int64_t end, int64_t piece, unsigned threads, void *memory)
      : body(body), context(context), piece(piece), shares(static_cast<Share *>(memory)) {
    int64_t pieces = (end - 1) / piece + 1;
    shareCount = unsigned(std::min<int64_t>(pieces, threads));
    // The first `longer` shares have one piece more.
    int64_t each = pieces / shareCount, longer = pieces % shareCount, begin = 0;
    for (unsigned i = 0; i < shareCount; ++i) {
      int64_t last = begin + each + (i < longer);
      new (&shares[i]) Share{begin * piece, std::min(end, last * piece)};
      begin = last;
    }
  }

  bool hasUnclaimed() const {
    return std::any_of(shares, shares + shareCount,
                       [](const Share &share) { return share.next.load(std::memory_order_relaxed) < share.end; });
  }
};

ThreadPool::ThreadPool(unsigned threads) : threadCount(std::max(1u, threads)) {}

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
      if (int32_t code = job.body(job.context, begin, std::min(begin + job.piece, share.end)))
        job.error.store(code, std::memory_order_relaxed);
    }
  }
}

bool ThreadPool::workOnce() {
  Job *job = nullptr;
  {
    std::lock_guard lock(mutex);
    for (Job *candidate : jobs)
      if (candidate->hasUnclaimed()) {
        job = candidate;
        job->inside.fetch_add(1, std::memory_order_relaxed);
        break;
      }
  }
  if (!job)
    return false;
  help(*job);
  // The caller may be asleep on `done`; holding the job's mutex keeps the job alive until we are out.
  std::lock_guard lock(job->mutex);
  if (job->inside.fetch_sub(1, std::memory_order_acq_rel) == 1)
    job->done.notify_one();
  return true;
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
    auto hasWork = [&] {
      return std::any_of(jobs.begin(), jobs.end(), [](Job *job) { return job->hasUnclaimed(); });
    };
    ++parked;
    wake.wait(lock, [&] { return stopping.load(std::memory_order_relaxed) || hasWork(); });
    --parked;
    if (stopping)
      return;
  }
}

int32_t ThreadPool::run(int64_t end, int64_t piece, Body body, void *context) {
  if (end <= 0)
    return 0;
  if (piece >= end || size() == 1)
    return body(context, 0, end);
  if (!started.load(std::memory_order_acquire))
    startWorkers();
  alignas(Job::Share) std::byte memory[maxShares * sizeof(Job::Share)];
  Job job(body, context, end, std::max<int64_t>(1, piece), std::min(threadCount, maxShares), memory);
  unsigned wakeCount;
  {
    std::lock_guard lock(mutex);
    jobs.push_back(&job);
    openJobs.fetch_add(1, std::memory_order_release);
    int64_t pieces = (end - 1) / job.piece; // besides the caller's first
    wakeCount = unsigned(std::min<int64_t>(parked, pieces));
  }
  for (; wakeCount; --wakeCount)
    wake.notify_one();
  help(job);
  {
    std::lock_guard lock(mutex);
    jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
  }
  for (int i = 0; i < spinRounds && job.inside.load(std::memory_order_acquire) != 0; ++i)
    spinPause();
  // Taking the mutex also waits for a worker that is still between its decrement and its unlock.
  std::unique_lock lock(job.mutex);
  job.done.wait(lock, [&] { return job.inside.load(std::memory_order_acquire) == 0; });
  return job.error.load(std::memory_order_relaxed);
}

uint64_t ThreadPool::leastPiece(bool isRepeated) const {
  return isRepeated || spinning.load(std::memory_order_relaxed) ? leastPieceAwake : leastPieceAsleep;
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

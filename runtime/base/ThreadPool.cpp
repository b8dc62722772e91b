// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadPool.cpp - Threads that run pieces of kernel ranges -----------===//
// A job lives on its caller's stack. Workers join it under the mutex while it is in `jobs`; the caller removes it and
// then waits until nobody is inside. Pieces are claimed with one fetch_add.
#include "runtime/base/ThreadPool.h"
#include "runtime/base/Cpu.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <pthread.h>

namespace millrace::runtime {
namespace {

constexpr int spinRounds = 1500; // some 30 to 60 microseconds
constexpr uint64_t minPiecePicoseconds = 20'000'000;

} // namespace

struct ThreadPool::Job {
  Body body;
  void *context;
  int64_t end, piece;
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<int32_t> error{0};
  std::atomic<int> inside{0}; ///< workers; raised under the mutex
  std::mutex mutex;
  std::condition_variable done;
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
      workers.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
    // The system gives no more threads: the caller and those that started do the work.
  }
  started.store(true, std::memory_order_release);
}

void ThreadPool::help(Job &job) {
  while (job.error.load(std::memory_order_relaxed) == 0) {
    int64_t begin = job.next.fetch_add(job.piece, std::memory_order_relaxed);
    if (begin >= job.end)
      return;
    if (int32_t code = job.body(job.context, begin, std::min(begin + job.piece, job.end)))
      job.error.store(code, std::memory_order_relaxed);
  }
}

bool ThreadPool::workOnce() {
  Job *job = nullptr;
  {
    std::lock_guard lock(mutex);
    for (Job *candidate : jobs)
      if (candidate->next.load(std::memory_order_relaxed) < candidate->end) {
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
    if (workOnce())
      continue;
    bool found = false;
    for (int i = 0; i < spinRounds && !found; ++i) {
      found = openJobs.load(std::memory_order_relaxed) != 0 || stopping.load(std::memory_order_relaxed);
      spinPause();
    }
    std::unique_lock lock(mutex);
    if (stopping)
      return;
    auto hasWork = [&] {
      return std::any_of(jobs.begin(), jobs.end(),
                         [](Job *job) { return job->next.load(std::memory_order_relaxed) < job->end; });
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
  Job job;
  job.body = body, job.context = context, job.end = end, job.piece = std::max<int64_t>(1, piece);
  unsigned wakeCount;
  {
    std::lock_guard lock(mutex);
    jobs.push_back(&job);
    openJobs.fetch_add(1, std::memory_order_relaxed);
    int64_t pieces = (end - 1) / job.piece; // besides the caller's first
    wakeCount = unsigned(std::min<int64_t>(parked, pieces));
  }
  for (; wakeCount; --wakeCount)
    wake.notify_one();
  help(job);
  {
    std::lock_guard lock(mutex);
    jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
    openJobs.fetch_sub(1, std::memory_order_relaxed);
  }
  for (int i = 0; i < spinRounds && job.inside.load(std::memory_order_acquire) != 0; ++i)
    spinPause();
  // Taking the mutex also waits for a worker that is still between its decrement and its unlock.
  std::unique_lock lock(job.mutex);
  job.done.wait(lock, [&] { return job.inside.load(std::memory_order_acquire) == 0; });
  return job.error.load(std::memory_order_relaxed);
}

int64_t pieceSize(int64_t end, uint64_t picosecondsPerIteration, uint64_t granularity, unsigned threads) {
  if (threads <= 1 || picosecondsPerIteration == 0 || end <= 1)
    return end;
  unsigned __int128 total = (unsigned __int128)picosecondsPerIteration * uint64_t(end);
  if (total < 2 * minPiecePicoseconds)
    return end;
  uint64_t byCost = (minPiecePicoseconds + picosecondsPerIteration - 1) / picosecondsPerIteration;
  uint64_t byThreads = (uint64_t(end) + 4 * threads - 1) / (4 * uint64_t(threads));
  uint64_t piece = std::max({byCost, byThreads, uint64_t(1)});
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadPool.h - Threads that run pieces of kernel ranges -------------===//
// One pool serves all devices and clients of a process. A piece never blocks and never starts another range, so the
// pool cannot deadlock, however many devices wait for it on however few processors. The calling thread works too.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::runtime {

/// Who wants to know which threads take part in a range. Called from all of them.
struct PoolObserver {
  const void *(*look)();  ///< what the caller of a range works at, valid until the range has run; null: nobody looks
  uint64_t (*now)();
  void (*worked)(const void *at, uint64_t begin, uint64_t pieces); ///< a thread that is not the caller's ran so many, until now
  void (*waited)(const void *at, uint64_t begin);                  ///< the caller, for the others
};

class ThreadPool {
public:
  /// Set while the process starts, or never.
  static inline constinit const PoolObserver *observer = nullptr;
  /// Runs iterations [begin, end); a result other than 0 is an error code.
  using Body = int32_t (*)(void *context, int64_t begin, int64_t end);

  /// `threads` counts the caller: 1 means no worker threads; at most kMostThreads. Workers start with the first range that is cut.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;

  /// The pool of the process, with defaultThreadCount() threads. Never destroyed. In a forked child it has no workers
  /// and runs everything inline.
  static ThreadPool &global();

  unsigned size() const { return disabled.load(std::memory_order_relaxed) ? 1 : threadCount; }

  /// Calls `body` for pieces of `piece` iterations (the last one may be shorter) that cover [0, end). Returns when all
  /// have run; 0 or the error of one failed piece (pieces not begun by then are skipped). Runs with the same numbers give a thread the same
  /// pieces, as long as all threads come and are equally fast. `isBackward`: each begins with the last of them. Thread-safe.
  int32_t run(int64_t end, int64_t piece, Body body, void *context, bool isBackward = false);

  /// Least time of a piece of a job of `total` that is worth handing to another thread, all in picoseconds: less while a worker spins for work,
  /// or if the next job of this size follows soon (`isRepeated`: in a loop; or the last one was asked about not long ago), more while workers
  /// must be woken for this one.
  uint64_t leastPiece(bool isRepeated, uint64_t total);
  static constexpr uint64_t leastPieceAwake = 6'000'000, leastPieceAsleep = 20'000'000;

private:
  struct Job;
  struct Slot;
  struct Parking;
  class ShareMemory;
  static constexpr unsigned slotCount = 32;
  void startWorkers();
  void work(unsigned worker);
  bool workOnce();
  bool hasWork();
  /// Waits until a job is opened that was not there when `seen` were, or for as long as that is likely to happen soon; true if one was.
  bool awaitJob(unsigned seen);
  void park(unsigned worker);
  /// Wakes a parked worker; false if there is none.
  bool wakeOne();
  /// Wakes at most two of those that `job` still wants: whoever is woken does so too, so that many come in the time of a few.
  void wakeFor(Job &job);
  Slot *takeSlot();
  /// The number of pieces that this thread has run.
  static uint64_t help(Job &job);

  const unsigned threadCount;
  /// Threads that wait for work without sleeping keep a processor busy: only if there is one for each.
  const bool maySpin;
  const unsigned mostHelpers; ///< of one job: no more than there are processors beside the caller's, but one at least
  std::atomic<bool> disabled{false};
  std::atomic<bool> started{false};
  std::atomic<bool> stopping{false};
  /// Number of jobs opened so far; workers spin until there is a new one before they park.
  alignas(64) std::atomic<unsigned> openedJobs{0};
  alignas(64) std::atomic<unsigned> runningJobs{0};
  std::atomic<unsigned> spinning{0}; ///< workers
  std::atomic<int64_t> lastSmall{0}; ///< when there was a job that is cut only while a worker spins; nanoseconds
  std::mutex starting;
  std::vector<std::thread> workers;
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<Parking> parking;
};

/// Size of the pieces in which to run `end` iterations of `picosecondsPerIteration` each: a multiple of `granularity`
/// that takes at least about `leastPicoseconds` and gives every thread some four pieces, and equally many if there are few; with many threads a
/// quarter of that, for one piece each. Returns `end` when the whole range should run inline: one thread, unknown cost (0), or work for less than
/// two pieces of `leastPicoseconds`.
int64_t pieceSize(int64_t end, uint64_t picosecondsPerIteration, uint64_t granularity, unsigned threads,
                  uint64_t leastPicoseconds = ThreadPool::leastPieceAsleep);

/// 64-byte aligned memory of this thread, valid until the next call on the same thread; nullptr if there is none.
void *threadScratch(size_t bytes);

} // namespace millrace::runtime

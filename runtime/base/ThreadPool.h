// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadPool.h - Threads that run parts of kernel ranges --------------===//
// One pool serves all devices and clients of a process. A piece of a range never blocks and never starts another range, so that the pool cannot
// deadlock, however many devices wait for it on however few processors. The calling thread runs pieces, too.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// Callbacks that observe which threads take part in a range. All threads call them.
struct PoolObserver {
  const void *(*look)();  ///< returns what the caller of a range executes, valid until the range has run; null if the range is not observed
  uint64_t (*now)();
  void (*worked)(const void *at, uint64_t begin, uint64_t pieces); ///< another thread than the caller's has run so many pieces since `begin`
  void (*waited)(const void *at, uint64_t begin);                  ///< the caller has waited for the others since `begin`
};

class ThreadPool {
public:
  /// Set while the process starts, or never.
  static inline constinit const PoolObserver *observer = nullptr;
  /// Runs iterations [begin, end) and returns 0, or an error code.
  using Body = int32_t (*)(void *context, int64_t begin, int64_t end);

  /// `threads` includes the caller, so that 1 means no worker threads; at most kMostThreads. Workers start with the first range that is cut into
  /// pieces.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;

  /// Returns the pool of the process, with defaultThreadCount() threads; it is never destroyed. In a forked child it has no workers and runs all
  /// pieces on the calling thread.
  static ThreadPool &global();

  unsigned size() const { return disabled.load(std::memory_order_relaxed) ? 1 : threadCount; }

  /// Calls `body` for pieces of `piece` iterations that cover [0, end). Returns when all have run: 0, or the error of one failed piece (pieces that
  /// have not begun by then are skipped). Ranges of the same size assign the same pieces to a thread, as long as all threads take part and are
  /// equally fast: each thread begins with a share of equally many iterations, shareOfThread(), whose last piece may be shorter. With `isBackward` each
  /// thread begins with its last piece. Pieces begin at multiples of `granularity`, of which `piece` is a multiple; 0: at multiples of `piece`.
  /// Thread-safe.
  int32_t run(int64_t end, int64_t piece, Body body, void *context, bool isBackward = false, int64_t granularity = 0);

  /// Returns the least time of a piece that is worth handing to another thread, for a job that takes `total`, both in picoseconds. It is less while a
  /// worker spins, and if the next job of this size is expected soon (`isRepeated`: the job is in a loop; or a job was queried not long ago); it is
  /// more while workers have to be woken for this job.
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
  /// Waits until a job is opened after the first `seen` ones, for as long as that is likely to happen soon. Returns true if one was.
  bool awaitJob(unsigned seen);
  void park(unsigned worker);
  /// Wakes a parked worker. Returns false if there is none.
  bool wakeOne();
  /// Wakes at most two of the workers that `job` still needs. Each woken worker calls it, too, so that the time grows with the logarithm of their
  /// number.
  void wakeFor(Job &job);
  Slot *takeSlot();
  /// Runs pieces of the job and returns how many this thread has run.
  static uint64_t help(Job &job);

  const unsigned threadCount;
  /// True if workers may spin for work, which keeps a processor busy: only if there is a processor for each thread.
  const bool maySpin;
  const unsigned mostHelpers; ///< helpers of one job: at most the processors besides the caller's, at least one
  std::atomic<bool> disabled{false};
  std::atomic<bool> started{false};
  std::atomic<bool> stopping{false};
  /// The number of jobs opened so far. Workers spin until it changes before they park.
  alignas(64) std::atomic<unsigned> openedJobs{0};
  alignas(64) std::atomic<unsigned> runningJobs{0};
  std::atomic<unsigned> spinning{0}; ///< workers that spin
  std::atomic<int64_t> lastSmall{0}; ///< time in nanoseconds of the last job that is cut only while a worker spins
  std::mutex starting;
  std::vector<std::thread> workers;
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<Parking> parking;
};

/// Returns the size of the pieces for `end` iterations of `picosecondsPerIteration` each: a multiple of `granularity` that takes at least about
/// `leastPicoseconds` and gives every thread about four pieces, and all threads equally many if there are few; if there are many threads, at least a
/// quarter of that time with one piece each. Returns `end` if the whole range should run on the calling thread: with one thread, an unknown cost (0),
/// or less than two pieces of work.
int64_t pieceSize(int64_t end, uint64_t picosecondsPerIteration, uint64_t granularity, unsigned threads,
                  uint64_t leastPicoseconds = ThreadPool::leastPieceAsleep);

/// Returns the iterations [first, second) of [0, end) with which the thread `number` of `shares` begins: as many as another's, but for `granularity`.
std::pair<int64_t, int64_t> shareOfThread(int64_t end, int64_t granularity, unsigned shares, unsigned number);

/// Returns 64-byte aligned memory of this thread, which is valid until the thread's next call; nullptr if there is none.
void *threadScratch(size_t bytes);

} // namespace millrace::runtime

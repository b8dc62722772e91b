// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadPool.cpp - Threads that run pieces of kernel ranges -----------===//
// A job lives on its caller's stack and is found by its slot, which belongs to the pool: a worker counts itself in, and the caller that has
// closed the slot waits until nobody is inside. No mutex on the way: caller and workers finish at the same moment, and whoever came second
// would be put to sleep by the system for longer than a small kernel takes. Every thread has a share of consecutive pieces, the same in
// every run of a kernel, so that what it touched the last time is in its caches and its part of memory is one that pages and prefetchers
// like; who is done with its share takes pieces of others'. A piece is claimed with one fetch_add. Workers that find nothing to do spin for a
// while, longer while a job is running, because programs run one kernel after the other; then each sleeps on a word of its own, and those that
// a job wants are woken in a chain.
#include "runtime/base/ThreadPool.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/FloatModes.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <pthread.h>

namespace millrace::runtime {
namespace {

constexpr int spinRounds = 1500; // some 30 to 60 microseconds
/// While a job runs, the next one is about to come; but a thread that waits longer than this lets others have the processor.
constexpr int spinRoundsInJob = 12 * spinRounds;

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
  const void *observed = nullptr; ///< see PoolObserver
  alignas(64) std::atomic<int32_t> error{0};
  alignas(64) std::atomic<int> wakesLeft{0}; ///< parked workers that should still be woken

  /// `memory` has room for `threads` shares; only those that are used are touched.
  Job(Body body, void *context, int64_t end, int64_t piece, int64_t granularity, bool isBackward, unsigned threads, void *memory)
      : body(body), context(context), piece(piece), isBackward(isBackward), shares(static_cast<Share *>(memory)) {
    shareCount = unsigned(std::min<int64_t>((end - 1) / piece + 1, threads));
    for (unsigned i = 0; i < shareCount; ++i) {
      const auto [first, last] = shareOfThread(end, granularity, shareCount, i);
      new (&shares[i]) Share{first, first, last};
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
  void close(bool maySpin) {
    state.fetch_and(~open, std::memory_order_acq_rel);
    auto isEmpty = [&] { return (state.load(std::memory_order_acquire) & inside) == 0; };
    for (int i = 0; maySpin && i < spinRounds && !isEmpty(); ++i)
      spinPause();
    if (!isEmpty()) {
      std::unique_lock lock(mutex);
      state.fetch_or(asleep, std::memory_order_acq_rel);
      done.wait(lock, isEmpty);
    }
    state.fetch_and(~(taken | asleep), std::memory_order_release);
  }
};

/// Memory for the shares of a job: the thread's own, kept for its next job, unless a job of this thread has it already (a callback of the user
/// that runs a program).
class ThreadPool::ShareMemory {
public:
  explicit ShareMemory(unsigned shares) : own(kept().isTaken ? &fresh : &kept().memory), isKept(own != &fresh) {
    if (own->size() < shares)
      *own = std::vector<Job::Share>(shares);
    if (isKept)
      kept().isTaken = true;
  }
  ~ShareMemory() {
    if (isKept)
      kept().isTaken = false;
  }
  ShareMemory(const ShareMemory &) = delete;
  void *get() const { return own->data(); }

private:
  struct Kept {
    std::vector<Job::Share> memory;
    bool isTaken = false;
  };
  static Kept &kept() {
    thread_local Kept kept;
    return kept;
  }
  std::vector<Job::Share> fresh, *own;
  const bool isKept;
};

/// The sleeping workers: a bit, and a word to wait on for each worker.
struct ThreadPool::Parking {
  struct alignas(64) Bed {
    std::atomic<int> isCalled{0};
  };
  explicit Parking(unsigned threads) : count((threads + 63) / 64), parked(new std::atomic<uint64_t>[count]), beds(new Bed[threads]) {
    for (unsigned i = 0; i < count; ++i)
      parked[i].store(0, std::memory_order_relaxed);
  }
  bool isAnyParked() const {
    for (unsigned i = 0; i < count; ++i)
      if (parked[i].load(std::memory_order_seq_cst))
        return true;
    return false;
  }
  void call(unsigned worker) {
    beds[worker].isCalled.store(1, std::memory_order_release);
    beds[worker].isCalled.notify_one();
  }
  const unsigned count;
  std::unique_ptr<std::atomic<uint64_t>[]> parked;
  std::unique_ptr<Bed[]> beds;
};

ThreadPool::ThreadPool(unsigned threads)
    : threadCount(std::clamp(threads, 1u, kMostThreads)), maySpin(threadCount <= availableCpus()),
      mostHelpers(std::max(2u, std::min(threadCount, availableCpus())) - 1), slots(new Slot[slotCount]), parking(new Parking(threadCount)) {}

ThreadPool::~ThreadPool() {
  stopping.store(true, std::memory_order_seq_cst);
  for (unsigned i = 1; i <= workers.size(); ++i)
    parking->call(i);
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
  std::lock_guard lock(starting);
  if (started.load(std::memory_order_relaxed))
    return;
  try {
    for (unsigned i = 1; i < threadCount; ++i)
      workers.emplace_back([this, i] {
        const DefaultFloatModes modes; // not those of whoever came first
        ownShare = i;
        work(i);
      });
  } catch (const std::system_error &) {
    // The system gives no more threads: the caller and those that started do the work.
  }
  started.store(true, std::memory_order_release);
}

uint64_t ThreadPool::help(Job &job) {
  uint64_t pieces = 0;
  for (unsigned i = 0; i < job.shareCount; ++i) {
    Job::Share &share = job.shares[(ownShare + i) % job.shareCount];
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      if (job.error.load(std::memory_order_relaxed) != 0)
        return pieces;
      int64_t begin = share.next.fetch_add(job.piece, std::memory_order_relaxed);
      if (begin >= share.end)
        break;
      if (job.isBackward)
        begin = share.mirrored(begin, job.piece);
      if (int32_t code = job.body(job.context, begin, std::min(begin + job.piece, share.end)))
        job.error.store(code, std::memory_order_relaxed);
      ++pieces;
    }
  }
  return pieces;
}

bool ThreadPool::workOnce() {
  for (unsigned i = 0; i < slotCount; ++i)
    if (Job *job = slots[i].enter()) {
      bool found = job->hasUnclaimed();
      if (found) {
        wakeFor(*job);
        const uint64_t begin = job->observed ? observer->now() : 0;
        uint64_t pieces = help(*job);
        if (job->observed && pieces)
          observer->worked(job->observed, begin, pieces);
      }
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

bool ThreadPool::awaitJob(unsigned seen) {
  auto isOver = [&] { return openedJobs.load(std::memory_order_relaxed) != seen || stopping.load(std::memory_order_relaxed); };
  if (!maySpin)
    return isOver();
  bool found = false;
  spinning.fetch_add(1, std::memory_order_relaxed);
  for (int i = 0; !found && (i < spinRounds || (i < spinRoundsInJob && runningJobs.load(std::memory_order_relaxed))); ++i) {
    found = isOver();
    spinPause();
  }
  spinning.fetch_sub(1, std::memory_order_relaxed);
  return found;
}

void ThreadPool::park(unsigned worker) {
  std::atomic<int> &isCalled = parking->beds[worker].isCalled;
  std::atomic<uint64_t> &word = parking->parked[worker / 64];
  const uint64_t bit = uint64_t(1) << worker % 64;
  isCalled.store(0, std::memory_order_relaxed);
  word.fetch_or(bit, std::memory_order_seq_cst);
  // Either this thread sees the slot that a caller opened, or the caller sees that this thread is parked.
  if (!stopping.load(std::memory_order_seq_cst) && !hasWork())
    isCalled.wait(0, std::memory_order_acquire);
  word.fetch_and(~bit, std::memory_order_relaxed);
}

bool ThreadPool::wakeOne() {
  for (unsigned i = 0; i < parking->count; ++i) {
    uint64_t parked = parking->parked[i].load(std::memory_order_seq_cst);
    while (parked) {
      const uint64_t bit = parked & -parked;
      // Only one of those that see the bit wakes its thread.
      if (parking->parked[i].fetch_and(~bit, std::memory_order_acq_rel) & bit) {
        parking->call(i * 64 + unsigned(__builtin_ctzll(bit)));
        return true;
      }
      parked = parking->parked[i].load(std::memory_order_seq_cst);
    }
  }
  return false;
}

void ThreadPool::wakeFor(Job &job) {
  for (int count = 0; count < 2 && job.wakesLeft.load(std::memory_order_relaxed) > 0; ++count)
    if (job.wakesLeft.fetch_sub(1, std::memory_order_relaxed) <= 0 || !wakeOne())
      return;
}

void ThreadPool::work(unsigned worker) {
  while (!stopping.load(std::memory_order_relaxed)) {
    // This comes before the search: a later job counts as new. A job that has no pieces left, but whose caller still works on its last one, must not
    // end the spinning: the next kernel of the program would find all workers asleep.
    unsigned seen = openedJobs.load(std::memory_order_acquire);
    if (!workOnce() && !awaitJob(seen))
      park(worker);
  }
}

int32_t ThreadPool::run(int64_t end, int64_t piece, Body body, void *context, bool isBackward, int64_t granularity) {
  if (end <= 0)
    return 0;
  if (piece >= end || size() == 1)
    return body(context, 0, end);
  if (!started.load(std::memory_order_acquire))
    startWorkers();
  Slot *slot = takeSlot();
  if (!slot) // more callers than slots: all processors have work
    return body(context, 0, end);
  piece = std::max<int64_t>(1, piece);
  const int64_t others = (end - 1) / piece; // pieces besides the caller's first
  const unsigned shares = unsigned(std::min<int64_t>(others + 1, threadCount));
  const ShareMemory memory(shares);
  Job job(body, context, end, piece, granularity > 0 ? granularity : piece, isBackward, shares, memory.get());
  // Those that spin come by themselves.
  const int64_t wanted = std::min<int64_t>(others, mostHelpers) - spinning.load(std::memory_order_relaxed);
  job.wakesLeft.store(int(std::max<int64_t>(0, wanted)), std::memory_order_relaxed);
  job.observed = observer ? observer->look() : nullptr;
  slot->job = &job;
  runningJobs.fetch_add(1, std::memory_order_relaxed);
  slot->state.fetch_or(Slot::open, std::memory_order_seq_cst);
  openedJobs.fetch_add(1, std::memory_order_seq_cst);
  if (wanted > 0 && parking->isAnyParked())
    wakeFor(job);
  help(job);
  const uint64_t begin = job.observed ? observer->now() : 0;
  slot->close(maySpin);
  if (job.observed)
    observer->waited(job.observed, begin);
  runningJobs.fetch_sub(1, std::memory_order_relaxed);
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
  // Each further thread that comes to a job which is cut costs little: all may come as long as their pieces take this part of the shortest one. Unit:
  // parts of the shortest piece. Source: commit b38c50a, 16 threads of a 16-processor Xeon: MobileNetV2 1.77 to 1.43 ms, an MLP's Adam step 0.73 to
  // 0.56; two threads: seven small models 0.97 to 1.02.
  constexpr uint64_t kShareOfPieceWorthComing = 4;
  uint64_t pieces = uint64_t(std::min<unsigned __int128>(total / minPiecePicoseconds, 4 * uint64_t(threads)));
  if (pieces < threads)
    pieces = std::max(pieces, uint64_t(std::min<unsigned __int128>(total / (minPiecePicoseconds / kShareOfPieceWorthComing), threads)));
  // As many pieces for one thread as for another, if there is no more than a handful.
  if (pieces > threads)
    pieces -= pieces % threads;
  uint64_t piece = (uint64_t(end) + pieces - 1) / pieces;
  granularity = std::max<uint64_t>(1, granularity);
  if (piece > uint64_t(end) || granularity > uint64_t(end))
    return end;
  piece = (piece + granularity - 1) / granularity * granularity;
  return int64_t(std::min(piece, uint64_t(end)));
}

std::pair<int64_t, int64_t> shareOfThread(int64_t end, int64_t granularity, unsigned shares, unsigned number) {
  // The first `longer` shares are longer by `granularity`.
  const int64_t grains = (end - 1) / granularity + 1, each = grains / shares, longer = grains % shares;
  auto beginOf = [&](int64_t share) { return std::min(end, (share * each + std::min(share, longer)) * granularity); };
  return {beginOf(number), beginOf(int64_t(number) + 1)};
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

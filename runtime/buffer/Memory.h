// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - Aligned memory: pooled, counted, shared ------------------===//
#pragma once
#include "runtime/base/Alignment.h"
#include "runtime/base/Status.h"
#include "runtime/buffer/ArenaPool.h"
#include "runtime/buffer/FreeLists.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace millrace::runtime {

class Arena;

/// Fact: bytes; that of all buffers.
inline constexpr size_t kAlignment = kBufferAlignment;

/// All sizes in bytes.
struct AllocatorStats {
  uint64_t inUse = 0;       ///< handed out and not returned (as requested, without rounding), arenas of executions that run included
  uint64_t peak = 0;        ///< largest inUse since creation or resetPeak()
  uint64_t pooled = 0;      ///< free memory kept for reuse
  uint64_t peakHeld = 0;    ///< largest inUse + pooled since creation or resetPeak(); what the system sees, but for rounding
  uint64_t allocations = 0; ///< number of allocate() calls that succeeded
  uint64_t poolHits = 0;    ///< how many of them took pooled memory
  uint64_t largest = 0;     ///< largest single request
  uint64_t limit = 0;       ///< 0 = none
  uint64_t arenas = 0;      ///< number of lend() calls that succeeded
  uint64_t arenaHits = 0;   ///< how many of them took pooled memory
  uint64_t arenaBlocks = 0; ///< blocks for arenas, lent or pooled
};

/// Hands out 64-byte aligned memory. What comes back is kept for reuse:
///   * memory of values by size (FreeLists.h), as much as a quarter more than has lived at a time (kSpareBytes at least);
///   * arenas, the room for intermediate results of an execution, in blocks that all programs share (ArenaPool.h).
/// What was not needed for kIdleTime goes back to the system, at the next sweep after that; what does not fit the limit, at once. Thread-safe.
class Allocator : public std::enable_shared_from_this<Allocator> {
public:
  /// What was not needed for so long goes back to the system. Getting a gigabyte from it again takes 1 to 2.5 % of this time. Unit: milliseconds.
  /// Source: measured on a Zen 4: 0.1 s for a gigabyte, 0.25 s with 4 KiB pages touched one by one.
  static constexpr std::chrono::milliseconds kIdleTime{10'000};
  /// Free memory of values that is kept however little lives: the system gives it back within some 10 ms, and it is a tenth of what a process with
  /// JAX or PyTorch takes. Unit: bytes. Source: judgement, not measured alone; commit 8be1604 has the figures of the whole change.
  static constexpr uint64_t kSpareBytes = uint64_t(64) << 20;

  /// A request beyond `limit` bytes in use fails with ResourceExhausted; 0 = no limit. Under a limit, what is in use and what is pooled together
  /// stay below it. Sweeps come in the background, every `idleTime`, where the allocator is held by a shared_ptr.
  explicit Allocator(uint64_t limit = 0, std::chrono::milliseconds idleTime = kIdleTime) : limit(limit), idleTime(idleTime) {}
  ~Allocator();
  Allocator(const Allocator &) = delete;

  /// Memory for `bytes` (also 0) bytes, not initialised.
  StatusOr<void *> allocate(uint64_t bytes);
  /// `bytes` as given to allocate.
  void deallocate(void *data, uint64_t bytes);
  /// Room for one execution, not initialised, until the arena is destroyed. The allocator outlives it.
  StatusOr<Arena> lend(uint64_t bytes);
  AllocatorStats stats() const;
  void resetPeak();
  /// Returns all free memory to the system.
  void trim();
  /// Returns free memory that was not needed since the last sweep. Whether there is more, for the next one.
  bool sweep();

private:
  friend class Arena;
  /// Blocks on their way back to the system, which takes long: freed without the mutex.
  struct Leaving {
    std::vector<FreeLists::Block> values;
    std::vector<ArenaBlockPtr> arenas;
    Leaving() = default;
    Leaving(const Leaving &) = delete;
    ~Leaving();
  };
  // With the mutex held:
  Status countIn(uint64_t bytes);
  void countHeld() { counters.peakHeld = std::max(counters.peakHeld, counters.inUse + pooled()); }
  uint64_t pooled() const { return values.bytes() + arenas.unused(); }
  /// Values give back what makes all that is held more than a quarter larger than what has lived at a time.
  void boundValues(Leaving &leaving);
  /// What is pooled makes room under the limit.
  void respectLimit(Leaving &leaving);
  bool needsSweep();

  void takeBack(ArenaBlock *block);
  void sweepLater();

  const uint64_t limit;
  const std::chrono::milliseconds idleTime;
  mutable std::mutex mutex; ///< guards all below
  AllocatorStats counters;  ///< without `pooled`
  FreeLists values;
  ArenaPool arenas;
  uint64_t uses = 0;      ///< of memory, numbered
  uint64_t recentPeak = 0, earlierPeak = 0; ///< of inUse, since the last sweep and between the two before it
  std::weak_ptr<int> sweeper; ///< lives while a sweep is to come
};

/// The room for intermediate results of one execution.
class Arena {
public:
  Arena() = default;
  Arena(Arena &&other) noexcept : allocator(other.allocator), block(std::exchange(other.block, nullptr)) {}
  Arena &operator=(Arena &&other) noexcept {
    std::swap(allocator, other.allocator);
    std::swap(block, other.block);
    return *this;
  }
  ~Arena() {
    if (block)
      allocator->takeBack(block);
  }
  void *data() const { return block->data; }
  uint64_t size() const { return block->lent; }

private:
  friend class Allocator;
  Arena(Allocator *allocator, ArenaBlock *block) : allocator(allocator), block(block) {}
  Allocator *allocator = nullptr;
  ArenaBlock *block = nullptr;
};

/// A piece of memory with its owner; always held by shared_ptr. Freed when the last reference goes.
class Storage {
public:
  ~Storage();
  Storage(const Storage &) = delete;

  static StatusOr<std::shared_ptr<Storage>> allocate(std::shared_ptr<Allocator> allocator, uint64_t bytes);
  /// Memory of somebody else: `release` runs when the last reference goes. Immutable memory is never written, so a
  /// donation of it becomes a copy.
  static std::shared_ptr<Storage> import(void *data, uint64_t bytes, bool isMutable, std::function<void()> release);
  /// Takes over memory that came from `allocator`.
  static std::shared_ptr<Storage> adopt(std::shared_ptr<Allocator> allocator, void *data, uint64_t bytes);

  void *data() const { return memory; }
  uint64_t size() const { return bytes; }
  bool isMutable() const { return writable; }
  bool isImported() const { return !allocator; }

private:
  Storage() = default;
  void *memory = nullptr;
  uint64_t bytes = 0;
  bool writable = true;
  std::shared_ptr<Allocator> allocator;
  std::function<void()> release;
};

} // namespace millrace::runtime

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

/// Fact: alignment of all buffers, in bytes.
inline constexpr size_t kAlignment = kBufferAlignment;

/// All sizes in bytes.
struct AllocatorStats {
  uint64_t inUse = 0;       ///< allocated and not freed (as requested, without rounding), including the arenas of running executions
  uint64_t peak = 0;        ///< largest inUse since creation or resetPeak()
  uint64_t pooled = 0;      ///< free memory kept for reuse
  uint64_t peakHeld = 0;    ///< largest inUse + pooled since creation or resetPeak(); apart from rounding the memory that the process takes
  uint64_t allocations = 0; ///< number of allocate() calls that succeeded
  uint64_t poolHits = 0;    ///< how many of them took pooled memory
  uint64_t largest = 0;     ///< largest single request
  uint64_t limit = 0;       ///< 0 = none
  uint64_t arenas = 0;      ///< number of lend() calls that succeeded
  uint64_t arenaHits = 0;   ///< how many of them took pooled memory
  uint64_t arenaBlocks = 0; ///< blocks for arenas, lent or pooled
};

/// Allocates 64-byte aligned memory and keeps freed memory for reuse:
///   * memory of values by size (FreeLists.h), up to a quarter more than has been in use at a time (at least kSpareBytes);
///   * arenas, the memory for temporary values of an execution, in blocks that all programs share (ArenaPool.h).
/// Memory that was not needed for kIdleTime is returned to the system at the next sweep; memory that exceeds the limit, at once. Thread-safe.
class Allocator : public std::enable_shared_from_this<Allocator> {
public:
  /// Memory that was not needed for this time is returned to the system. Getting a gigabyte from it again takes 1 to 2.5 % of this time.
  /// Unit: milliseconds. Source: measured on a Zen 4: 0.1 s for a gigabyte, 0.25 s with 4 KiB pages touched one by one.
  static constexpr std::chrono::milliseconds kIdleTime{10'000};
  /// Free memory of values that is kept even if few values are alive: the system needs about 10 ms to provide it again, and it is a tenth of the
  /// memory of a process with JAX or PyTorch. Unit: bytes. Source: judgement, not measured alone; commit 8be1604 has the figures of the whole change.
  static constexpr uint64_t kSpareBytes = uint64_t(64) << 20;

  /// A request that exceeds `limit` bytes in use fails with ResourceExhausted; 0 means no limit. Under a limit the sum of used and pooled memory
  /// stays below it. A background sweep runs every `idleTime` if a shared_ptr holds the allocator.
  explicit Allocator(uint64_t limit = 0, std::chrono::milliseconds idleTime = kIdleTime) : limit(limit), idleTime(idleTime) {}
  ~Allocator();
  Allocator(const Allocator &) = delete;

  /// Allocates `bytes` (also 0) bytes, not initialised.
  StatusOr<void *> allocate(uint64_t bytes);
  /// Frees memory of allocate(). `bytes` is the number given there.
  void deallocate(void *data, uint64_t bytes);
  /// Lends the arena of one execution, not initialised, until the returned object is destroyed. The allocator outlives it.
  StatusOr<Arena> lend(uint64_t bytes);
  AllocatorStats stats() const;
  void resetPeak();
  /// Returns all free memory to the system.
  void trim();
  /// Returns free memory that was not needed since the last sweep to the system. Returns true if the next sweep may find more.
  bool sweep();

private:
  friend class Arena;
  /// Blocks that will be returned to the system without holding the mutex, because that takes long.
  struct Leaving {
    std::vector<FreeLists::Block> values;
    std::vector<ArenaBlockPtr> arenas;
    Leaving() = default;
    Leaving(const Leaving &) = delete;
    ~Leaving();
  };
  // The caller holds the mutex:
  Status countIn(uint64_t bytes);
  void countHeld() { counters.peakHeld = std::max(counters.peakHeld, counters.inUse + pooled()); }
  uint64_t pooled() const { return values.bytes() + arenas.unused(); }
  /// Removes free memory of values until all held memory is at most a quarter more than has been in use at a time.
  void boundValues(Leaving &leaving);
  /// Removes pooled memory until the sum is below the limit.
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
  uint64_t uses = 0;      ///< number of uses of memory so far
  uint64_t recentPeak = 0, earlierPeak = 0; ///< peaks of inUse since the last sweep, and between the two sweeps before it
  std::weak_ptr<int> sweeper; ///< alive while a sweep is scheduled
};

/// The arena of one execution, which holds its temporary values.
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

/// A block of memory with its owner, always held by shared_ptr. It is freed with the last reference.
class Storage {
public:
  ~Storage();
  Storage(const Storage &) = delete;

  static StatusOr<std::shared_ptr<Storage>> allocate(std::shared_ptr<Allocator> allocator, uint64_t bytes);
  /// Wraps foreign memory; `release` runs with the last reference. Immutable memory is never written, so that its donation makes a copy.
  static std::shared_ptr<Storage> import(void *data, uint64_t bytes, bool isMutable, std::function<void()> release);
  /// Wraps memory that `allocator` allocated.
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

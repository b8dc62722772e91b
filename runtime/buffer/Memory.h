// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - Aligned memory: pooled, counted, shared ------------------===//
#pragma once
#include "runtime/base/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace millrace::runtime {

inline constexpr size_t kAlignment = 64;

/// All sizes in bytes.
struct AllocatorStats {
  uint64_t inUse = 0;       ///< handed out and not returned (as requested, without rounding)
  uint64_t peak = 0;        ///< largest inUse since creation or resetPeak()
  uint64_t pooled = 0;      ///< free memory kept for reuse
  uint64_t allocations = 0; ///< number of allocate() calls that succeeded
  uint64_t poolHits = 0;    ///< how many of them took pooled memory
  uint64_t largest = 0;     ///< largest single request
  uint64_t limit = 0;       ///< 0 = none
};

/// Hands out 64-byte aligned memory and keeps what comes back in size classes (eight per power of two, so rounding
/// wastes at most 1/8). Thread-safe.
class Allocator {
public:
  /// A request beyond `limit` bytes in use fails with ResourceExhausted; 0 = no limit. At most `poolLimit` bytes of
  /// free memory are kept.
  explicit Allocator(uint64_t limit = 0, uint64_t poolLimit = uint64_t(1) << 30)
      : limit(limit), poolLimit(poolLimit) {}
  ~Allocator();
  Allocator(const Allocator &) = delete;

  /// Memory for `bytes` (also 0) bytes, not initialised.
  StatusOr<void *> allocate(uint64_t bytes);
  /// `bytes` as given to allocate.
  void deallocate(void *data, uint64_t bytes);
  AllocatorStats stats() const;
  void resetPeak();
  /// Returns all free memory to the system.
  void trim();

  /// Memory that its owner can do without, such as that of programs that are not running: where a request would fail, `release` is called, on
  /// the thread that asks, and the request tried again. Returns a number for removeReclaimer, which waits for calls that have begun.
  uint64_t addReclaimer(std::function<void()> release);
  void removeReclaimer(uint64_t number);

private:
  static uint64_t classOf(uint64_t bytes, uint64_t &capacity);
  StatusOr<void *> tryAllocate(uint64_t bytes);
  const uint64_t limit, poolLimit;
  mutable std::mutex mutex;
  AllocatorStats counters;                    ///< guarded by mutex
  std::vector<std::vector<void *>> freeLists; ///< guarded by mutex; one per size class
  std::mutex reclaimMutex;                    ///< held while reclaimers run, never together with `mutex` by those who hold that first
  std::map<uint64_t, std::function<void()>> reclaimers; ///< guarded by reclaimMutex
  uint64_t lastReclaimer = 0;                           ///< likewise
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

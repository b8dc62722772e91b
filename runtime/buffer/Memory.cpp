// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - Aligned memory: pooled, counted, shared ----------------===//
#include "runtime/buffer/Memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define MILLRACE_ASAN 1
#endif
#endif

namespace millrace::runtime {
namespace {

constexpr uint64_t hugePage = uint64_t(2) << 20;

/// Big blocks begin on a huge page: fewer TLB misses in every kernel that streams through them.
void *systemAllocate(uint64_t capacity) {
  if (capacity < 2 * hugePage)
    return std::aligned_alloc(kAlignment, capacity);
  uint64_t rounded = (capacity + hugePage - 1) / hugePage * hugePage;
  void *data = std::aligned_alloc(hugePage, rounded);
  if (data)
    ::madvise(data, rounded, MADV_HUGEPAGE); // a hint: failure changes nothing
  return data;
}

void poison([[maybe_unused]] void *data, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] bool free) {
#ifdef MILLRACE_ASAN
  if (free)
    __asan_poison_memory_region(data, bytes);
  else
    __asan_unpoison_memory_region(data, bytes);
#endif
}

} // namespace

// Capacities: 64, 128, ... 512, then eight steps per power of two, all multiples of 64.
uint64_t Allocator::classOf(uint64_t bytes, uint64_t &capacity) {
  uint64_t units = std::max<uint64_t>(1, (bytes + 63) / 64);
  if (units <= 8) {
    capacity = units * 64;
    return units - 1;
  }
  unsigned shift = unsigned(std::bit_width(units - 1)) - 4; // units - 1 has its top bit at position shift + 3
  uint64_t steps = ((units - 1) >> shift) + 1;              // 9..16
  capacity = (steps << shift) * 64;
  return 8 + uint64_t(shift) * 8 + (steps - 9);
}

Allocator::~Allocator() { trim(); }

StatusOr<void *> Allocator::allocate(uint64_t bytes) {
  StatusOr<void *> data = tryAllocate(bytes);
  if (data || (limit && bytes > limit)) // however much is given back
    return data;
  std::lock_guard lock(reclaimMutex);
  for (auto &[number, release] : reclaimers) {
    release();
    data = tryAllocate(bytes);
    if (data)
      break;
  }
  return data;
}

uint64_t Allocator::addReclaimer(std::function<void()> release) {
  std::lock_guard lock(reclaimMutex);
  reclaimers.emplace(++lastReclaimer, std::move(release));
  return lastReclaimer;
}

void Allocator::removeReclaimer(uint64_t number) {
  std::lock_guard lock(reclaimMutex);
  reclaimers.erase(number);
}

StatusOr<void *> Allocator::tryAllocate(uint64_t bytes) {
  if (bytes > (uint64_t(1) << 46))
    return resourceExhausted("cannot allocate " + std::to_string(bytes) + " bytes");
  uint64_t capacity;
  uint64_t index = classOf(bytes, capacity);
  {
    std::lock_guard lock(mutex);
    if (limit && (bytes > limit || counters.inUse > limit - bytes))
      return resourceExhausted("cannot allocate " + std::to_string(bytes) + " bytes: " +
                               std::to_string(counters.inUse) + " are in use, and the limit is " + std::to_string(limit));
    counters.inUse += bytes;
    counters.peak = std::max(counters.peak, counters.inUse);
    counters.largest = std::max(counters.largest, bytes);
    ++counters.allocations;
    if (index < freeLists.size() && !freeLists[index].empty()) {
      void *data = freeLists[index].back();
      freeLists[index].pop_back();
      counters.pooled -= capacity;
      ++counters.poolHits;
      poison(data, capacity, false);
      return data;
    }
  }
  void *data = systemAllocate(capacity);
  if (!data) {
    trim();
    data = systemAllocate(capacity);
  }
  if (!data) {
    std::lock_guard lock(mutex);
    counters.inUse -= bytes;
    --counters.allocations;
    return resourceExhausted("cannot allocate " + std::to_string(bytes) + " bytes: the system has no memory left");
  }
  return data;
}

void Allocator::deallocate(void *data, uint64_t bytes) {
  if (!data)
    return;
  uint64_t capacity;
  uint64_t index = classOf(bytes, capacity);
  {
    std::lock_guard lock(mutex);
    counters.inUse -= bytes;
    if (counters.pooled + capacity <= poolLimit) {
      if (freeLists.size() <= index)
        freeLists.resize(index + 1);
      freeLists[index].push_back(data);
      counters.pooled += capacity;
      poison(data, capacity, true);
      return;
    }
  }
  std::free(data);
}

AllocatorStats Allocator::stats() const {
  std::lock_guard lock(mutex);
  AllocatorStats result = counters;
  result.limit = limit;
  return result;
}

void Allocator::resetPeak() {
  std::lock_guard lock(mutex);
  counters.peak = counters.inUse;
}

void Allocator::trim() {
  std::vector<std::vector<void *>> lists;
  {
    std::lock_guard lock(mutex);
    lists.swap(freeLists);
    counters.pooled = 0;
  }
  for (uint64_t index = 0; index < lists.size(); ++index) {
    // Inverse of classOf: free() of poisoned memory would be reported.
    uint64_t capacity = index < 8 ? (index + 1) * 64 : ((index - 8) % 8 + 9) << ((index - 8) / 8) << 6;
    for (void *data : lists[index]) {
      poison(data, capacity, false);
      std::free(data);
    }
  }
}

Storage::~Storage() {
  if (allocator)
    allocator->deallocate(memory, bytes);
  if (release)
    release();
}

StatusOr<std::shared_ptr<Storage>> Storage::allocate(std::shared_ptr<Allocator> allocator, uint64_t bytes) {
  StatusOr<void *> data = allocator->allocate(bytes);
  if (!data)
    return data.status();
  return adopt(std::move(allocator), *data, bytes);
}

std::shared_ptr<Storage> Storage::adopt(std::shared_ptr<Allocator> allocator, void *data, uint64_t bytes) {
  std::shared_ptr<Storage> storage(new Storage);
  storage->memory = data;
  storage->bytes = bytes;
  storage->allocator = std::move(allocator);
  return storage;
}

std::shared_ptr<Storage> Storage::import(void *data, uint64_t bytes, bool isMutable, std::function<void()> release) {
  std::shared_ptr<Storage> storage(new Storage);
  storage->memory = data;
  storage->bytes = bytes;
  storage->writable = isMutable;
  storage->release = std::move(release);
  return storage;
}

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - Aligned memory: pooled, counted, shared ----------------===//
#include "runtime/buffer/Memory.h"
#include "runtime/base/Background.h"
#include "runtime/buffer/Pages.h"
#include "runtime/profile/MemoryListener.h"
#include "runtime/profile/Recorder.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

/// A request for more bytes is refused, so that bit widths and sums cannot overflow. Unit: bytes. Source: arithmetic: 64 TiB, a quarter of what 48
/// bits of an address reach.
constexpr uint64_t kMaxBytes = uint64_t(1) << 46;

std::string cannot(uint64_t bytes) { return "cannot allocate " + std::to_string(bytes) + " bytes"; }

/// Records an allocation or a release. The caller holds the mutex, so that the records of one allocator are in order.
void recordChange(const Allocator *allocator, int64_t bytes, uint64_t inUse, const void *data) {
  if (!profile::isOn()) [[likely]]
    return;
  profile::Record record;
  record.kind = profile::Kind::Memory;
  record.what = allocator;
  record.a = uint64_t(bytes);
  record.b = inUse;
  record.c = uint64_t(reinterpret_cast<uintptr_t>(data));
  record.index = uint32_t(profile::MemoryFor::current.purpose);
  record.d = uint64_t(reinterpret_cast<uintptr_t>(profile::MemoryFor::current.place));
  record.start = record.end = profile::ticks();
  profile::append(record);
}

/// The same of memory of a value, of which other profilers are told, too. An execution takes its arena on one thread and gives it back on another,
/// where theirs do not look: they would see memory that is never freed.
void recordValue(const Allocator *allocator, int64_t bytes, uint64_t inUse, void *data) {
  recordChange(allocator, bytes, inUse, data);
  if (profile::isOn()) [[unlikely]]
    profile::tellOfMemory(allocator, data, bytes, inUse);
}

Status noMemoryLeft(uint64_t bytes) { return resourceExhausted(cannot(bytes) + ": the system has no memory left"); }

} // namespace

Allocator::Leaving::~Leaving() {
  for (const FreeLists::Block &block : values) {
    markUsed(block.data, block.capacity); // free() of a poisoned block would be reported
    freeBlock(block.data, block.capacity);
  }
  for (const ArenaBlockPtr &block : arenas) {
    markUsed(block->data, block->touched);
    unmapPages(block->data, block->capacity);
  }
}

Allocator::~Allocator() { trim(); }

//===--- With the mutex held -----------------------------------------------===//

Status Allocator::countIn(uint64_t bytes) {
  if (bytes > kMaxBytes)
    return resourceExhausted(cannot(bytes));
  if (limit && (bytes > limit || counters.inUse > limit - bytes))
    return resourceExhausted(cannot(bytes) + ": " + std::to_string(counters.inUse) + " are in use, and the limit is " + std::to_string(limit));
  counters.inUse += bytes;
  counters.peak = std::max(counters.peak, counters.inUse);
  counters.largest = std::max(counters.largest, bytes);
  recentPeak = std::max(recentPeak, counters.inUse);
  ++uses;
  return Status();
}

void Allocator::boundValues(Leaving &leaving) {
  uint64_t peak = std::max(recentPeak, earlierPeak), most = peak + std::max(kSpareBytes, peak / 4);
  while (counters.inUse + pooled() > most && values.bytes())
    leaving.values.push_back(values.takeOldest());
}

void Allocator::respectLimit(Leaving &leaving) {
  while (limit && counters.inUse + pooled() > limit) {
    uint64_t ofValues = values.oldestUse(), ofArenas = arenas.oldestUse();
    if (ofValues < ofArenas)
      leaving.values.push_back(values.takeOldest());
    else if (ofArenas != ~uint64_t(0))
      leaving.arenas.push_back(arenas.takeOldest());
    else
      return arenas.dropTails();
  }
}

bool Allocator::needsSweep() {
  if (!sweeper.expired() || weak_from_this().expired())
    return false;
  return pooled() != 0;
}

//===--- Memory of values --------------------------------------------------===//

StatusOr<void *> Allocator::allocate(uint64_t bytes) {
  uint64_t capacity, index;
  {
    Leaving leaving;
    std::lock_guard lock(mutex);
    MILLRACE_TRY(countIn(bytes));
    capacity = FreeLists::capacityFor(bytes, index);
    ++counters.allocations;
    void *data = values.take(index, uses);
    if (!data)
      boundValues(leaving);
    respectLimit(leaving);
    countHeld();
    if (data) {
      ++counters.poolHits;
      markUsed(data, capacity);
      recordValue(this, int64_t(bytes), counters.inUse, data);
      return data;
    }
  }
  void *data = allocateBlock(capacity);
  if (!data) {
    trim();
    data = allocateBlock(capacity);
  }
  if (!data) {
    std::lock_guard lock(mutex);
    counters.inUse -= bytes;
    --counters.allocations;
    return noMemoryLeft(bytes);
  }
  if (profile::isOn()) [[unlikely]] {
    std::lock_guard lock(mutex);
    recordValue(this, int64_t(bytes), counters.inUse, data);
  }
  return data;
}

void Allocator::deallocate(void *data, uint64_t bytes) {
  if (!data)
    return;
  uint64_t index, capacity = FreeLists::capacityFor(bytes, index);
  Leaving leaving;
  bool isFirst;
  {
    std::lock_guard lock(mutex);
    counters.inUse -= bytes;
    recordValue(this, -int64_t(bytes), counters.inUse, data);
    markFree(data, capacity);
    values.put(index, data, ++uses);
    boundValues(leaving);
    respectLimit(leaving); // the capacity may exceed the bytes that were in use
    isFirst = needsSweep();
  }
  if (isFirst)
    sweepLater();
}

//===--- Arenas ------------------------------------------------------------===//

StatusOr<Arena> Allocator::lend(uint64_t bytes) {
  ArenaBlock *block;
  {
    Leaving leaving;
    std::lock_guard lock(mutex);
    MILLRACE_TRY(countIn(bytes));
    ++counters.arenas;
    block = arenas.lend(bytes);
    if (block) {
      ++counters.arenaHits;
      recordChange(this, int64_t(bytes), counters.inUse, block->data);
    } else if (ArenaBlockPtr small = arenas.takeLargest()) {
      leaving.arenas.push_back(std::move(small)); // the pages of the small arena are released before others are touched
    }
    respectLimit(leaving);
    countHeld();
  }
  if (block)
    return Arena(this, block);
  uint64_t capacity = ArenaPool::capacityFor(bytes);
  void *data = mapPages(capacity);
  if (!data)
    data = mapPages(capacity = wholePages(bytes)); // the address space may be limited, too
  if (!data) {
    trim();
    data = mapPages(capacity);
  }
  std::lock_guard lock(mutex);
  if (data) {
    recordChange(this, int64_t(bytes), counters.inUse, data);
    return Arena(this, arenas.lendNew(data, capacity, bytes));
  }
  counters.inUse -= bytes;
  --counters.arenas;
  return noMemoryLeft(bytes);
}

void Allocator::takeBack(ArenaBlock *block) {
  bool isFirst;
  {
    std::lock_guard lock(mutex);
    counters.inUse -= block->lent;
    recordChange(this, -int64_t(block->lent), counters.inUse, block->data);
    arenas.giveBack(block, ++uses);
    isFirst = needsSweep();
  }
  if (isFirst)
    sweepLater();
}

//===--- Giving back -------------------------------------------------------===//

AllocatorStats Allocator::stats() const {
  std::lock_guard lock(mutex);
  AllocatorStats result = counters;
  result.pooled = pooled();
  result.arenaBlocks = arenas.blocks();
  result.limit = limit;
  return result;
}

void Allocator::resetPeak() {
  std::lock_guard lock(mutex);
  counters.peak = counters.inUse;
  counters.peakHeld = counters.inUse + pooled();
}

void Allocator::trim() {
  Leaving leaving;
  std::lock_guard lock(mutex);
  leaving.values = values.takeAll();
  leaving.arenas = arenas.takeAll();
}

bool Allocator::sweep() {
  Leaving leaving;
  std::lock_guard lock(mutex);
  earlierPeak = recentPeak;
  recentPeak = counters.inUse;
  leaving.values = values.takeUnneeded();
  leaving.arenas = arenas.takeUnneeded();
  if (pooled())
    return true;
  sweeper.reset();
  return false;
}

/// A sweep job runs until nothing is left to sweep. A forked child has no threads for jobs; it finds that the job is gone and starts another one.
void Allocator::sweepLater() {
  struct Sweep {
    std::weak_ptr<Allocator> of;
    std::shared_ptr<int> alive;
    std::chrono::milliseconds every;
    bool operator()(bool isOver) {
      std::shared_ptr<Allocator> allocator = of.lock();
      if (allocator && !isOver && allocator->sweep())
        Background::ofProcess().addLater(*this, every);
      return false;
    }
  };
  auto alive = std::make_shared<int>();
  {
    std::lock_guard lock(mutex);
    if (!sweeper.expired())
      return; // another thread has started the job
    sweeper = alive;
  }
  Background::ofProcess().addLater(Sweep{weak_from_this(), std::move(alive), idleTime}, idleTime);
}

//===--- Storage -----------------------------------------------------------===//

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArenaPool.cpp - Room for intermediate results ----------------------===//
#include "runtime/buffer/ArenaPool.h"
#include "runtime/buffer/Pages.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace millrace::runtime {

ArenaBlock *ArenaPool::lend(ArenaBlock &block, uint64_t bytes) {
  markUsed(block.data, bytes);
  unusedBytes -= unusedOf(block);
  block.lent = bytes;
  block.isLent = true;
  unusedBytes += unusedOf(block);
  return &block;
}

ArenaBlock *ArenaPool::lend(uint64_t bytes) {
  ArenaBlock *found = nullptr;
  // Capacities are powers of two. Among equal ones the block with more touched pages wins, then the one that was used last, whose lines may be in a
  // cache.
  auto isBetter = [&](const ArenaBlock &a, const ArenaBlock &b) {
    if (a.capacity != b.capacity)
      return a.capacity < b.capacity;
    return std::pair(std::min(a.touched, bytes), a.lastUse) > std::pair(std::min(b.touched, bytes), b.lastUse);
  };
  for (const ArenaBlockPtr &each : all)
    if (!each->isLent && each->capacity >= bytes && (!found || isBetter(*each, *found)))
      found = each.get();
  return found ? lend(*found, bytes) : nullptr;
}

ArenaBlock *ArenaPool::lendNew(void *data, uint64_t capacity, uint64_t bytes) {
  ArenaBlock &block = *all.emplace_back(std::make_unique<ArenaBlock>());
  block.data = data;
  block.capacity = capacity;
  return lend(block, bytes);
}

void ArenaPool::giveBack(ArenaBlock *block, uint64_t now) {
  uint64_t bytes = block->lent;
  unusedBytes -= unusedOf(*block);
  block->isLent = false;
  block->lent = 0;
  block->touched = std::max(block->touched, bytes);
  block->needed = std::max(block->needed, bytes);
  block->lastUse = now;
  unusedBytes += unusedOf(*block);
  markFree(block->data, bytes);
}

ArenaBlockPtr ArenaPool::take(std::vector<ArenaBlockPtr>::iterator place) {
  if (place == all.end() || (*place)->isLent)
    return nullptr;
  ArenaBlockPtr block = std::move(*place);
  *place = std::move(all.back());
  all.pop_back();
  unusedBytes -= unusedOf(*block);
  return block;
}

ArenaBlockPtr ArenaPool::takeLargest() {
  return take(std::max_element(all.begin(), all.end(), [](const ArenaBlockPtr &a, const ArenaBlockPtr &b) {
    return std::pair(!a->isLent, a->capacity) < std::pair(!b->isLent, b->capacity);
  }));
}

static bool usedEarlier(const ArenaBlockPtr &a, const ArenaBlockPtr &b) {
  return std::pair(a->isLent, a->lastUse) < std::pair(b->isLent, b->lastUse);
}

uint64_t ArenaPool::oldestUse() const {
  auto found = std::min_element(all.begin(), all.end(), usedEarlier);
  return found == all.end() || (*found)->isLent ? ~uint64_t(0) : (*found)->lastUse;
}

ArenaBlockPtr ArenaPool::takeOldest() { return take(std::min_element(all.begin(), all.end(), usedEarlier)); }

std::vector<ArenaBlockPtr> ArenaPool::takeAll() {
  std::vector<ArenaBlockPtr> result;
  while (ArenaBlockPtr block = takeLargest())
    result.push_back(std::move(block));
  return result;
}

void ArenaPool::keep(ArenaBlock &block, uint64_t bytes) {
  if (block.touched <= bytes)
    return;
  markUsed(block.data, block.touched); // the kernel may write into the tail
  dropPages(block.data, bytes, block.touched);
  unusedBytes -= unusedOf(block);
  block.touched = bytes;
  unusedBytes += unusedOf(block);
  if (!block.isLent)
    markFree(block.data, bytes);
}

std::vector<ArenaBlockPtr> ArenaPool::takeUnneeded() {
  std::vector<ArenaBlockPtr> result;
  for (size_t i = 0; i < all.size();) {
    ArenaBlock &block = *all[i];
    if (!block.isLent && !block.needed) {
      result.push_back(take(all.begin() + std::ptrdiff_t(i)));
      continue;
    }
    keep(block, std::max(block.needed, block.lent));
    block.needed = 0;
    ++i;
  }
  return result;
}

void ArenaPool::dropTails() {
  for (const ArenaBlockPtr &each : all)
    if (each->isLent)
      keep(*each, each->lent);
}

uint64_t ArenaPool::capacityFor(uint64_t bytes) {
  constexpr uint64_t least = 64 << 10; // programs with little temporary memory need a few hundred bytes
  return wholePages(std::bit_ceil(std::max(bytes, least)));
}

} // namespace millrace::runtime

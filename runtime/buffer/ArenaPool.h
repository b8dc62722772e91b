// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArenaPool.h - Pool of arenas ---------------------------------------===//
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace millrace::runtime {

/// A mapping that is used as the arena of one execution after the other.
struct ArenaBlock {
  void *data = nullptr;
  uint64_t capacity = 0; ///< bytes of the mapping; only addresses, which cost no memory
  uint64_t touched = 0;  ///< bytes from the beginning that may take memory
  uint64_t lent = 0;     ///< bytes from the beginning that are the arena of an execution now
  uint64_t needed = 0;   ///< the largest arena since ArenaPool::takeUnneeded()
  uint64_t lastUse = 0;  ///< number of the block's last use
  bool isLent = false;
};

using ArenaBlockPtr = std::unique_ptr<ArenaBlock>;

/// The arena blocks of a device: as many as executions have run at a time, of whatever programs. Plain data: callers lock, and return blocks that are
/// taken out to the system.
class ArenaPool {
public:
  /// Lends the smallest free block that holds `bytes`; of several the one with more touched pages, then the most recently used one. Null if there is
  /// none.
  ArenaBlock *lend(uint64_t bytes);
  /// Adds a block that was mapped for an arena of `bytes` bytes, and lends it.
  ArenaBlock *lendNew(void *data, uint64_t capacity, uint64_t bytes);
  /// Takes back a block of lend(). `now` is the number of this use of memory.
  void giveBack(ArenaBlock *block, uint64_t now);
  size_t blocks() const { return all.size(); }
  /// Returns an upper bound of the bytes that take memory and are in no arena.
  uint64_t unused() const { return unusedBytes; }

  /// Removes a free block and returns it; null if there is none.
  ArenaBlockPtr takeLargest();
  ArenaBlockPtr takeOldest();
  uint64_t oldestUse() const; ///< ~0 if there is none
  std::vector<ArenaBlockPtr> takeAll();
  /// Removes free blocks that have been in no arena since the last call. Returns to the system the ends of other blocks that no arena needed since
  /// then; that is usually little, and the caller's lock prevents that the block is lent meanwhile.
  std::vector<ArenaBlockPtr> takeUnneeded();
  /// Returns to the system the touched pages behind the arenas of lent blocks.
  void dropTails();

  /// Returns the size of the mapping for an arena of `bytes`. It has room to grow, so that programs that grow step by step (text that is generated
  /// token by token) find pages that are touched already. The room costs addresses only.
  static uint64_t capacityFor(uint64_t bytes);

private:
  static uint64_t unusedOf(const ArenaBlock &block) { return block.touched > block.lent ? block.touched - block.lent : 0; }
  ArenaBlock *lend(ArenaBlock &block, uint64_t bytes);
  void keep(ArenaBlock &block, uint64_t bytes);
  ArenaBlockPtr take(std::vector<ArenaBlockPtr>::iterator place);
  std::vector<ArenaBlockPtr> all;
  uint64_t unusedBytes = 0;
};

} // namespace millrace::runtime

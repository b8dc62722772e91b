// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArenaPool.h - Room for intermediate results ------------------------===//
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace millrace::runtime {

/// A mapping that becomes the arena of one execution after the other.
struct ArenaBlock {
  void *data = nullptr;
  uint64_t capacity = 0; ///< of the mapping: addresses, which cost nothing
  uint64_t touched = 0;  ///< bytes from the beginning that may take memory
  uint64_t lent = 0;     ///< bytes from the beginning that are somebody's arena now
  uint64_t needed = 0;   ///< the largest arena since ArenaPool::takeUnneeded()
  uint64_t lastUse = 0;  ///< uses of memory are numbered
  bool isLent = false;
};

using ArenaBlockPtr = std::unique_ptr<ArenaBlock>;

/// The blocks of a device: as many as executions have run at a time, whatever programs those were of. Plain data: callers lock, and give what is
/// taken out to the system.
class ArenaPool {
public:
  /// Lends the smallest free block that holds `bytes`; of several those that have more of the pages, then the one used last. Null if there is none.
  ArenaBlock *lend(uint64_t bytes);
  /// A block that was mapped for an arena of `bytes` bytes.
  ArenaBlock *lendNew(void *data, uint64_t capacity, uint64_t bytes);
  /// What lend() has returned. `now` numbers the uses of memory.
  void giveBack(ArenaBlock *block, uint64_t now);
  size_t blocks() const { return all.size(); }
  /// Bytes that take memory, at most, and are nobody's arena.
  uint64_t unused() const { return unusedBytes; }

  /// Takes a free block out; null if there is none.
  ArenaBlockPtr takeLargest();
  ArenaBlockPtr takeOldest();
  uint64_t oldestUse() const; ///< ~0 if there is none
  std::vector<ArenaBlockPtr> takeAll();
  /// Takes out free blocks that have been no arena since the last call. What the arenas of others did not need, behind them, is given back to the
  /// system: little, most times, and nobody must lend the block meanwhile.
  std::vector<ArenaBlockPtr> takeUnneeded();
  /// Gives back what lent blocks have touched behind their arena.
  void dropTails();

  /// The size of the mapping for an arena of `bytes`: with room to grow, so that programs that become larger step by step (a generated text,
  /// token by token) find the pages that they have touched. The room is addresses only.
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FreeLists.h - Free memory in size classes --------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::runtime {

/// Free blocks in size classes of 64, 128, ... 512 bytes, then eight classes per power of two, so that rounding wastes at most 1/8. Plain data:
/// callers lock, and free blocks that are taken out for good.
class FreeLists {
public:
  struct Block {
    void *data = nullptr;
    uint64_t capacity = 0;
  };
  /// Returns the bytes of a block for `bytes` bytes; sets `index` to its class.
  static uint64_t capacityFor(uint64_t bytes, uint64_t &index);

  /// Returns a block of the class; null if it has none. `now` is the number of this use of memory.
  void *take(uint64_t index, uint64_t now);
  void put(uint64_t index, void *data, uint64_t now);
  /// Returns the free bytes.
  uint64_t bytes() const { return total; }
  /// Returns the last use of the least recently used class that has blocks; ~0 if there is none.
  uint64_t oldestUse() const;
  /// Removes a block of that class; data is null if there is none.
  Block takeOldest();
  /// Removes the blocks that were not needed since the last call: of every class as many as have been free all the time.
  std::vector<Block> takeUnneeded();
  std::vector<Block> takeAll();

private:
  struct Class {
    std::vector<void *> blocks; ///< taken from the end, because the most recently used block is in the caches
    size_t fewest = 0;          ///< blocks least number of blocks at any time since takeUnneeded()
    uint64_t lastUse = 0;
  };
  static uint64_t capacityOf(uint64_t index);
  Class *oldest();
  std::vector<Class> classes;
  uint64_t total = 0;
};

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FreeLists.h - Free memory by size ----------------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::runtime {

/// Blocks that wait for the next request of about their size, in size classes: 64, 128, ... 512 bytes, then eight per power of two, so that
/// rounding wastes at most 1/8. Plain data: callers lock, and free what is taken out for good.
class FreeLists {
public:
  struct Block {
    void *data = nullptr;
    uint64_t capacity = 0;
  };
  /// What a block for `bytes` bytes holds; its class is `index`.
  static uint64_t capacityFor(uint64_t bytes, uint64_t &index);

  /// Null if the class has none. `now` numbers the uses of memory.
  void *take(uint64_t index, uint64_t now);
  void put(uint64_t index, void *data, uint64_t now);
  /// Free bytes.
  uint64_t bytes() const { return total; }
  /// The last use of the class that has blocks and was used the longest time ago; ~0 if none has.
  uint64_t oldestUse() const;
  /// A block of that class; data is null if there is none.
  Block takeOldest();
  /// Takes out what was not needed since the last call: as many blocks of every class as have never been taken meanwhile.
  std::vector<Block> takeUnneeded();
  std::vector<Block> takeAll();

private:
  struct Class {
    std::vector<void *> blocks; ///< taken from the end: what was used last is in the caches
    size_t fewest = 0;          ///< blocks at any time since takeUnneeded()
    uint64_t lastUse = 0;
  };
  static uint64_t capacityOf(uint64_t index);
  Class *oldest();
  std::vector<Class> classes;
  uint64_t total = 0;
};

} // namespace millrace::runtime

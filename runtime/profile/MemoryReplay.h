// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryReplay.h - What a device has in use, record by record ----------===//
#pragma once
#include "runtime/profile/XSpace.h"

#include <map>

namespace millrace::runtime::profile {

/// Goes through the records of memory of one device once more. Records without addresses (of older files) tell how much there is, not whose it is.
class MemoryReplay {
public:
  struct Block {
    uint64_t bytes = 0;
    const std::string *purpose = nullptr, *source = nullptr; ///< empty texts where the record has none
    double begin = 0;                                        ///< ns
  };
  using Blocks = std::map<uint64_t, Block>; ///< by address

  MemoryReplay(const Plane &plane, const Plane::Line &counters) : plane(plane), counters(counters) {}

  /// Goes on by one record; false at the end.
  bool next();
  bool isAtStart() const { return position == 0; }
  double at() const { return begin; } ///< ns, of that record
  double nextAt() const;              ///< of the one after it; infinite at the end
  uint64_t inUse() const { return bytesInUse; }
  const Blocks &live() const { return blocks; }
  uint64_t known() const { return knownBytes; } ///< bytes of the live blocks
  /// Bytes of the live blocks with a purpose.
  uint64_t bytesFor(const std::string &purpose) const;

private:
  const Plane &plane;
  const Plane::Line &counters;
  size_t position = 0;
  double begin = 0;
  uint64_t bytesInUse = 0, knownBytes = 0;
  Blocks blocks;
  std::map<std::string, uint64_t> byPurpose;
};

/// The index of the record after which a device has most in use; the number of records if there is none.
size_t indexOfPeak(const Plane &plane, const Plane::Line &counters);

} // namespace millrace::runtime::profile

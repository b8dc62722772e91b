// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Limits.h - Limits of the sizes in a program -------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace millrace::runtime {

/// The largest number of bytes of a value in memory, and of all temporaries of a function together: the address space of processors.
inline constexpr uint64_t maxValueBytes = uint64_t(1) << 46;

/// The stack on which an expression of sizes is evaluated. Unit: numbers. Source: judgement, not measured alone: programs have sums and products of a
/// few sizes, which take two or three.
inline constexpr size_t kMaxSizeStack = 32;

/// Returns the bytes of a dense value of `rank` sizes, sizeAt(0), sizeAt(1), ...: 0 where one of them is 0, however large the others are. None if a
/// size is negative or the bytes are more than maxValueBytes.
template <typename SizeAt>
std::optional<uint64_t> bytesOfSizes(uint64_t elementBytes, size_t rank, SizeAt sizeAt) {
  unsigned __int128 product = elementBytes;
  bool isEmpty = false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = sizeAt(i);
    if (size < 0)
      return std::nullopt;
    isEmpty |= size == 0;
    if (product <= maxValueBytes) // else it stays too large
      product *= uint64_t(size);
  }
  if (isEmpty)
    return 0;
  return product <= maxValueBytes ? std::optional(uint64_t(product)) : std::nullopt;
}

/// The largest table that the executor puts on the stack for one step: the operands and results of a kernel, the sizes that it is given, the states
/// of a loop, and the sizes of those. Unit: entries of 8 bytes. Source: arithmetic: three such tables at most are on one stack (the buffers of
/// a kernel, its sizes, and what a thread of its own pieces keeps), 1.5 MiB of the smallest that Linux gives a thread by itself (2 MiB, where the limit
/// of stacks is unlimited).
inline constexpr uint64_t kMaxTableEntries = uint64_t(1) << 16;

} // namespace millrace::runtime

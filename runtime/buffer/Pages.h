// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pages.h - Memory from the system and back --------------------------===//
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// Blocks of at least so many are mappings of their own: what is freed is the system's again at once, where the C library would keep up to 32 MiB of
/// every block that it has seen freed (its dynamic threshold). A page at the end, unused, is less than 2 % of it. Unit: bytes. Source: arithmetic:
/// 4096 of 262144 bytes.
inline constexpr uint64_t kMappedBytes = 256 << 10;

/// `bytes` in whole pages: huge ones where there are at least two of them.
uint64_t wholePages(uint64_t bytes);

/// wholePages(bytes) zeroed bytes, which take memory once they are touched; null if there are none. Large mappings begin on a huge page: fewer
/// TLB misses in every kernel that streams through them.
void *mapPages(uint64_t bytes);
void unmapPages(void *data, uint64_t bytes);
/// Gives the pages that lie within [from, to) of a mapping back to the system; touched again they are zero.
void dropPages(void *data, uint64_t from, uint64_t to);

/// Memory of `capacity` bytes, a multiple of 64, on a multiple of 64; null if there is none.
void *allocateBlock(uint64_t capacity);
void freeBlock(void *data, uint64_t capacity);

/// Marks memory for the address sanitizer, where the build has it.
void markFree(void *data, uint64_t bytes);
void markUsed(void *data, uint64_t bytes);

} // namespace millrace::runtime

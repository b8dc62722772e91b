// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pages.h - Allocate memory from the system, and return it -----------===//
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// Blocks of at least so many bytes are mappings of their own, which are returned to the system when they are freed. The C library would keep up to
/// 32 MiB of every block that it has seen freed (its dynamic threshold). The unused rest of the last page is less than 2 %. Unit: bytes. Source:
/// arithmetic: 4096 of 262144 bytes.
inline constexpr uint64_t kMappedBytes = 256 << 10;

/// Rounds `bytes` up to whole pages, which are huge ones if the block has at least two of them.
uint64_t wholePages(uint64_t bytes);

/// Maps wholePages(bytes) zeroed bytes, which take memory when they are touched; null on failure. Large mappings begin at a huge page, which means
/// fewer TLB misses in every kernel that streams through them.
void *mapPages(uint64_t bytes);
void unmapPages(void *data, uint64_t bytes);
/// Returns the pages within [from, to) of a mapping to the system; they are zero when they are touched again.
void dropPages(void *data, uint64_t from, uint64_t to);

/// Allocates `capacity` bytes, a multiple of 64, aligned to 64 bytes; null on failure.
void *allocateBlock(uint64_t capacity);
void freeBlock(void *data, uint64_t capacity);

/// Marks memory as inaccessible for the address sanitizer in builds that have it.
void markFree(void *data, uint64_t bytes);
void markUsed(void *data, uint64_t bytes);

} // namespace millrace::runtime

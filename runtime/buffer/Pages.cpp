// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pages.cpp - Memory from the system and back ------------------------===//
#include "runtime/buffer/Pages.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define MILLRACE_ASAN 1
#endif
#endif

namespace millrace::runtime {
namespace {

constexpr uint64_t hugePage = uint64_t(2) << 20;

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

uint64_t pageBytes() {
  static const uint64_t bytes = uint64_t(::sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace

uint64_t wholePages(uint64_t bytes) { return roundUp(bytes, bytes < 2 * hugePage ? pageBytes() : hugePage); }

/// Adds a page that is never written: vector loads may read past the last element, as they may in blocks of the C library.
static uint64_t mappedBytes(uint64_t bytes) { return wholePages(bytes) + pageBytes(); }

void *mapPages(uint64_t bytes) {
  uint64_t usable = wholePages(bytes);
  bytes = mappedBytes(bytes);
  auto map = [](uint64_t length) {
    void *data = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? nullptr : static_cast<char *>(data);
  };
  if (usable < 2 * hugePage)
    return map(bytes);
  char *data = map(bytes + hugePage);
  if (!data)
    return map(bytes); // the address space has no room for the aligned size
  uint64_t before = roundUp(uint64_t(uintptr_t(data)), hugePage) - uintptr_t(data);
  if (before)
    ::munmap(data, before);
  if (before < hugePage)
    ::munmap(data + before + bytes, hugePage - before);
  ::madvise(data + before, bytes, MADV_HUGEPAGE); // the call is a hint, whose failure changes nothing
  return data + before;
}

void unmapPages(void *data, uint64_t bytes) { ::munmap(data, mappedBytes(bytes)); }

void dropPages(void *data, uint64_t from, uint64_t to) {
  from = roundUp(from, pageBytes());
  to = to / pageBytes() * pageBytes();
  if (from < to)
    ::madvise(static_cast<char *>(data) + from, to - from, MADV_DONTNEED);
}

void *allocateBlock(uint64_t capacity) {
  return capacity < kMappedBytes ? std::aligned_alloc(64, capacity) : mapPages(capacity);
}

void freeBlock(void *data, uint64_t capacity) {
  if (capacity < kMappedBytes)
    std::free(data);
  else
    unmapPages(data, capacity);
}

void markFree([[maybe_unused]] void *data, [[maybe_unused]] uint64_t bytes) {
#ifdef MILLRACE_ASAN
  __asan_poison_memory_region(data, bytes);
#endif
}

void markUsed([[maybe_unused]] void *data, [[maybe_unused]] uint64_t bytes) {
#ifdef MILLRACE_ASAN
  __asan_unpoison_memory_region(data, bytes);
#endif
}

} // namespace millrace::runtime

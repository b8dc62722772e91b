// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.h - Memory that processes of one host share ------------===//
// A sender copies a message into a block, an anonymous file (memfd) that the receivers map and read in place. The first page of a block counts its
// readers; without readers the block is used again. Blocks have no names, and are freed with the last process that maps them.
#pragma once
#include "runtime/transport/Socket.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <sys/uio.h>
#include <vector>

namespace millrace::runtime::transport {

/// A mapped file with its counter of readers.
class SharedMapping {
public:
  /// Maps all of `file`, which must be sealed against shrinking. Errors: InvalidArgument for any other file.
  static StatusOr<std::shared_ptr<SharedMapping>> open(const Socket &file);
  ~SharedMapping();
  SharedMapping(const SharedMapping &) = delete;
  char *data() const { return base + headerBytes; }
  uint64_t size() const { return mapped - headerBytes; }
  std::atomic<uint32_t> &readers() const { return *reinterpret_cast<std::atomic<uint32_t> *>(base); }
  /// Returns the data for a reader that has been counted; the release of the result releases the block.
  static std::shared_ptr<char> reading(std::shared_ptr<SharedMapping> mapping);

  static constexpr uint64_t headerBytes = 4096;

private:
  SharedMapping(char *base, uint64_t mapped) : base(base), mapped(mapped) {}
  char *const base;
  const uint64_t mapped;
};

/// One block of a sender.
struct SharedBlock {
  uint32_t id = 0;
  Socket file;
  std::shared_ptr<SharedMapping> mapping;
};

/// A block that its sender uses. The sender may give it to readers as long as it holds this.
using SharedLease = std::shared_ptr<SharedBlock>;

/// The blocks of a sender. Thread-safe.
class SharedBlocks {
public:
  explicit SharedBlocks(uint64_t limit) : limit(limit) {}
  /// Copies the pieces; null if that would exceed the limit, or if the system has no memory.
  SharedLease copy(const std::vector<iovec> &pieces, uint64_t bytes);

private:
  SharedBlock *find(uint64_t bytes);
  SharedBlock *make(uint64_t bytes);

  const uint64_t limit;
  std::mutex mutex;
  uint64_t total = 0;                               ///< guarded by mutex
  std::vector<std::unique_ptr<SharedBlock>> blocks; ///< guarded by mutex
};

} // namespace millrace::runtime::transport

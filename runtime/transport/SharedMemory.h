// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.h - Memory that processes of one host read in place -----===//
// A sender copies what it sends into a block, an anonymous file (memfd) that the receivers map: they read it where it is. A block counts its
// readers, in its first page; without any it is used again. Blocks have no names, and end with the last process that maps them.
#pragma once
#include "runtime/transport/Socket.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <sys/uio.h>
#include <vector>

namespace millrace::runtime::transport {

/// A mapped file with its counter.
class SharedMapping {
public:
  /// Maps all of `file`, which must be sealed against shrinking. InvalidArgument for any other file.
  static StatusOr<std::shared_ptr<SharedMapping>> open(const Socket &file);
  ~SharedMapping();
  SharedMapping(const SharedMapping &) = delete;
  char *data() const { return base + headerBytes; }
  uint64_t size() const { return mapped - headerBytes; }
  std::atomic<uint32_t> &readers() const { return *reinterpret_cast<std::atomic<uint32_t> *>(base); }
  /// The data, for a reader that was counted; when it is let go of, so is the block.
  static std::shared_ptr<char> reading(std::shared_ptr<SharedMapping> mapping);

  static constexpr uint64_t headerBytes = 4096;

private:
  SharedMapping(char *base, uint64_t mapped) : base(base), mapped(mapped) {}
  char *const base;
  const uint64_t mapped;
};

/// One block of the sender's.
struct SharedBlock {
  uint32_t id = 0;
  Socket file;
  std::shared_ptr<SharedMapping> mapping;
};

/// A block in use by its sender, which may give it to readers as long as it holds this.
using SharedLease = std::shared_ptr<SharedBlock>;

/// The blocks of a sender. Thread-safe.
class SharedBlocks {
public:
  explicit SharedBlocks(uint64_t limit) : limit(limit) {}
  /// A copy of the pieces; null if that would be more memory than the limit, or the system has none.
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

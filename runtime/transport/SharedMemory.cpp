// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.cpp - Memory that processes of one host read in place ---===//
#include "runtime/transport/SharedMemory.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace millrace::runtime::transport {
namespace {

/// A block of more than this multiple of the required size is left to larger messages.
constexpr uint64_t maxExcess = 4;

} // namespace

StatusOr<std::shared_ptr<SharedMapping>> SharedMapping::open(const Socket &file) {
  int seals = ::fcntl(file.descriptor(), F_GET_SEALS);
  struct stat status;
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || ::fstat(file.descriptor(), &status) || status.st_size <= off_t(headerBytes))
    return invalidArgument("expects a file of memory that cannot be shrunk");
  void *base = ::mmap(nullptr, size_t(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (base == MAP_FAILED)
    return systemError("map memory of another process", errno);
  ::madvise(base, size_t(status.st_size), MADV_HUGEPAGE); // the kernel may support huge pages for such files
  return std::shared_ptr<SharedMapping>(new SharedMapping(static_cast<char *>(base), uint64_t(status.st_size)));
}

SharedMapping::~SharedMapping() { ::munmap(base, mapped); }

std::shared_ptr<char> SharedMapping::reading(std::shared_ptr<SharedMapping> mapping) {
  char *data = mapping->data();
  return std::shared_ptr<char>(data, [mapping = std::move(mapping)](char *) { mapping->readers().fetch_sub(1, std::memory_order_release); });
}

SharedBlock *SharedBlocks::find(uint64_t bytes) {
  SharedBlock *best = nullptr;
  for (const auto &block : blocks) {
    uint64_t size = block->mapping->size();
    bool fits = size >= bytes && size / maxExcess <= bytes + SharedMapping::headerBytes;
    if (fits && (!best || size < best->mapping->size()) && block->mapping->readers().load(std::memory_order_acquire) == 0)
      best = block.get();
  }
  return best;
}

SharedBlock *SharedBlocks::make(uint64_t bytes) {
  uint64_t size = std::bit_ceil(bytes + SharedMapping::headerBytes);
  if (size > limit || total > limit - size)
    return nullptr;
  Socket file(::memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.descriptor(), off_t(size)) || ::fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    return nullptr;
  StatusOr<std::shared_ptr<SharedMapping>> mapping = SharedMapping::open(file);
  if (!mapping)
    return nullptr;
  auto block = std::make_unique<SharedBlock>();
  block->id = uint32_t(blocks.size());
  block->file = std::move(file);
  block->mapping = std::move(*mapping);
  total += size;
  return blocks.emplace_back(std::move(block)).get();
}

SharedLease SharedBlocks::copy(const std::vector<iovec> &pieces, uint64_t bytes) {
  SharedBlock *block;
  {
    std::lock_guard lock(mutex);
    block = find(bytes);
    if (!block)
      block = make(bytes);
    if (!block)
      return nullptr;
    block->mapping->readers().store(1, std::memory_order_relaxed); // counts the lease
  }
  SharedLease lease(block, [](SharedBlock *held) { held->mapping->readers().fetch_sub(1, std::memory_order_release); });
  char *to = block->mapping->data();
  for (const iovec &piece : pieces)
    if (piece.iov_len) {
      std::memcpy(to, piece.iov_base, piece.iov_len);
      to += piece.iov_len;
    }
  return lease;
}

} // namespace millrace::runtime::transport

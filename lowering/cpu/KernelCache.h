// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCache.h - Cache of compiled kernels --------------------------===//
#pragma once

#include "runtime/base/ByteStore.h"
#include "runtime/program/KernelEntry.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace millrace::lowering {

/// Compiled kernels by key, least recently used ones are dropped beyond a number of bytes. Thread-safe.
class KernelCache {
public:
  explicit KernelCache(size_t byteLimit) : byteLimit(byteLimit) {}
  /// Returns the cache of this process, of 64 MiB.
  static KernelCache &ofProcess();

  /// Returns null if there is no entry: the caller then compiles the kernel and calls insert() or abandon(). Another thread that asks meanwhile waits
  /// for that, and becomes the compiling one if the kernel was abandoned.
  std::shared_ptr<const runtime::KernelEntry> findOrClaim(llvm::StringRef key);
  void abandon(llvm::StringRef key);
  /// Claims all of `keys`, once no other thread compiles one of them; the caller compiles them and calls insert() or abandon() for each. All keys
  /// must be claimed in one call: two threads that wait for each other's keys would deadlock.
  void claim(llvm::ArrayRef<std::string> keys);
  /// Returns null if there is no entry, also while another thread compiles it.
  std::shared_ptr<const runtime::KernelEntry> find(llvm::StringRef key);
  /// Keeps `entry`, unless it alone exceeds the limit, and drops least recently used entries.
  void insert(llvm::StringRef key, std::shared_ptr<const runtime::KernelEntry> entry);
  size_t bytes() const;

private:
  struct Kept {
    std::string key;
    std::shared_ptr<const runtime::KernelEntry> entry;
    size_t size() const { return key.size() + entry->object.size() + sizeof(runtime::KernelEntry); }
  };
  /// Does what find() does, with `mutex` held.
  std::shared_ptr<const runtime::KernelEntry> lookUp(llvm::StringRef key);

  const size_t byteLimit;
  mutable std::mutex mutex;
  std::condition_variable settled;
  llvm::StringSet<> claimed; ///< being compiled
  std::list<Kept> kept; ///< most recently used first
  llvm::StringMap<std::list<Kept>::iterator> byKey;
  size_t total = 0;
};

enum class KernelSource { Compiled, Memory, Disk };

} // namespace millrace::lowering

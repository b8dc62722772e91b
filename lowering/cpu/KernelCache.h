// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCache.h - Kernels that were compiled before ------------------===//
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

/// Kernels by their keys: those used last, up to a number of bytes. Thread-safe.
class KernelCache {
public:
  explicit KernelCache(size_t byteLimit) : byteLimit(byteLimit) {}
  /// The one of this process, of 64 MiB.
  static KernelCache &ofProcess();

  /// Null if there is none: the caller makes it and calls insert() or abandon(). Who asks for it meanwhile waits for that, and is
  /// told to make it in turn if it was abandoned.
  std::shared_ptr<const runtime::KernelEntry> findOrClaim(llvm::StringRef key);
  void abandon(llvm::StringRef key);
  /// All of `keys`, as soon as nobody else makes one of them; the caller makes them and calls insert() or abandon() for each. Who claims
  /// several must do so at once: two who wait for each other's would wait for ever.
  void claim(llvm::ArrayRef<std::string> keys);
  /// Null if there is none, also where someone makes it.
  std::shared_ptr<const runtime::KernelEntry> find(llvm::StringRef key);
  /// Keeps `entry`, unless it alone is larger than the limit, and drops those not used for longest.
  void insert(llvm::StringRef key, std::shared_ptr<const runtime::KernelEntry> entry);
  size_t bytes() const;

private:
  struct Kept {
    std::string key;
    std::shared_ptr<const runtime::KernelEntry> entry;
    size_t size() const { return key.size() + entry->object.size() + sizeof(runtime::KernelEntry); }
  };
  /// find() with `mutex` held.
  std::shared_ptr<const runtime::KernelEntry> lookUp(llvm::StringRef key);

  const size_t byteLimit;
  mutable std::mutex mutex;
  std::condition_variable settled;
  llvm::StringSet<> claimed; ///< someone is making them
  std::list<Kept> kept; ///< the one used last comes first
  llvm::StringMap<std::list<Kept>::iterator> byKey;
  size_t total = 0;
};

enum class KernelSource { Compiled, Memory, Disk };

} // namespace millrace::lowering

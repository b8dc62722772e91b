// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCache.cpp - Cache of compiled kernels ------------------------===//
#include "lowering/cpu/KernelCache.h"

#include "llvm/ADT/STLExtras.h"

namespace millrace::lowering {

KernelCache &KernelCache::ofProcess() {
  // The cache is never destroyed, because threads may compile while the process ends.
  static KernelCache &cache = *new KernelCache(size_t(64) << 20);
  return cache;
}

std::shared_ptr<const runtime::KernelEntry> KernelCache::findOrClaim(llvm::StringRef key) {
  std::unique_lock lock(mutex);
  settled.wait(lock, [&] { return !claimed.contains(key); });
  std::shared_ptr<const runtime::KernelEntry> found = lookUp(key);
  if (!found)
    claimed.insert(key);
  return found;
}

void KernelCache::claim(llvm::ArrayRef<std::string> keys) {
  std::unique_lock lock(mutex);
  settled.wait(lock, [&] { return llvm::none_of(keys, [&](const std::string &key) { return claimed.contains(key); }); });
  for (const std::string &key : keys)
    claimed.insert(key);
}

std::shared_ptr<const runtime::KernelEntry> KernelCache::find(llvm::StringRef key) {
  std::lock_guard lock(mutex);
  return lookUp(key);
}

std::shared_ptr<const runtime::KernelEntry> KernelCache::lookUp(llvm::StringRef key) {
  auto it = byKey.find(key);
  if (it == byKey.end())
    return nullptr;
  kept.splice(kept.begin(), kept, it->second);
  return it->second->entry;
}

void KernelCache::abandon(llvm::StringRef key) {
  std::lock_guard lock(mutex);
  claimed.erase(key);
  settled.notify_all();
}

void KernelCache::insert(llvm::StringRef key, std::shared_ptr<const runtime::KernelEntry> entry) {
  Kept added{key.str(), std::move(entry)};
  size_t size = added.size();
  std::lock_guard lock(mutex);
  claimed.erase(key);
  settled.notify_all();
  if (size > byteLimit || byKey.contains(key))
    return;
  kept.push_front(std::move(added));
  byKey[key] = kept.begin();
  for (total += size; total > byteLimit; kept.pop_back()) {
    total -= kept.back().size();
    byKey.erase(kept.back().key);
  }
}

size_t KernelCache::bytes() const {
  std::lock_guard lock(mutex);
  return total;
}

} // namespace millrace::lowering

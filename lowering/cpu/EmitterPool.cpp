// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitterPool.cpp - Reuse object emitters -----------------------------===//
#include "lowering/cpu/EmitterPool.h"

#include <algorithm>

namespace millrace::lowering {

EmitterPool &EmitterPool::ofProcess() {
  // The pool is never destroyed, because threads may compile while the process ends.
  static EmitterPool &pool = *new EmitterPool;
  return pool;
}

llvm::Expected<std::unique_ptr<ObjectEmitter>> EmitterPool::take(const CpuTarget &target) {
  {
    std::lock_guard lock(mutex);
    auto found = std::find_if(idle.begin(), idle.end(), [&](const auto &emitter) { return emitter->cpu().hasInstructionsOf(target); });
    if (found != idle.end()) {
      std::unique_ptr<ObjectEmitter> taken = std::move(*found);
      idle.erase(found);
      return taken;
    }
  }
  return ObjectEmitter::create(target);
}

void EmitterPool::give(std::unique_ptr<ObjectEmitter> emitter) {
  std::lock_guard lock(mutex);
  if (idle.size() < kMostIdle)
    idle.push_back(std::move(emitter));
}

size_t EmitterPool::idleCount() const {
  std::lock_guard lock(mutex);
  return idle.size();
}

} // namespace millrace::lowering

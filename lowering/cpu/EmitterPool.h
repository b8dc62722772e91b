// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitterPool.h - Reuse object emitters -------------------------------===//
#pragma once

#include "lowering/cpu/ObjectEmitter.h"

#include <mutex>
#include <vector>

namespace millrace::lowering {

/// Idle object emitters. Creating one, with LLVM's tables of the processor, takes a tenth of the time of compiling a small program. Thread-safe.
class EmitterPool {
public:
  static EmitterPool &ofProcess();

  /// Returns an idle emitter for `target`, else a new one.
  llvm::Expected<std::unique_ptr<ObjectEmitter>> take(const CpuTarget &target);
  void give(std::unique_ptr<ObjectEmitter> emitter);

  /// Idle emitters that are kept; further ones are destroyed. Unit: emitters. Source: judgement, not measured alone; commit 74c913c has the figures
  /// of the whole change.
  static constexpr size_t kMostIdle = 16;
  size_t idleCount() const;

private:
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<ObjectEmitter>> idle;
};

} // namespace millrace::lowering

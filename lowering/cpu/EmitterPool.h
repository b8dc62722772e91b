// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitterPool.h - Object emitters between two uses -------------------===//
#pragma once

#include "lowering/cpu/ObjectEmitter.h"

#include <mutex>
#include <vector>

namespace millrace::lowering {

/// Object emitters that nobody uses. To make one, with LLVM's tables of the processor, takes a tenth of the time of a small program. Thread-safe.
class EmitterPool {
public:
  static EmitterPool &ofProcess();

  /// An idle one for `target`, else a new one.
  llvm::Expected<std::unique_ptr<ObjectEmitter>> take(const CpuTarget &target);
  void give(std::unique_ptr<ObjectEmitter> emitter);

  /// Emitters that are kept; those that come when there are so many are destroyed. Unit: emitters. Source: judgement, not measured alone; commit
  /// 74c913c has the figures of the whole change.
  static constexpr size_t kMostIdle = 16;
  size_t idleCount() const;

private:
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<ObjectEmitter>> idle;
};

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelUpgrades.h - Optimized machine code for a loaded program ------===//
// In the tiered mode the compiler returns a program whose machine code was generated quickly, and optimizes its kernels in the background. Each
// optimized kernel is published here, and passed on to the loaded code (Loader.h) and, when all are published, to the cache.
#pragma once
#include "runtime/program/KernelEntry.h"
#include "runtime/program/Program.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::runtime {

/// Thread-safe. The compiler calls publish() for each kernel and finally, in any case, finish().
class KernelUpgrades {
public:
  KernelUpgrades();

  /// `listener` is called for all published kernels, and later for new ones on the publisher's thread. It must not call this object.
  void listen(std::function<void(const KernelEntry &)> listener);
  /// `call` is called once with all kernels when the last one is published: at once if it is, else on the publisher's thread; never after
  /// finish(false).
  void whenWhole(std::function<void(const std::vector<KernelEntry> &)> call);
  void publish(KernelEntry kernel);
  /// `isWhole` says that every kernel was published.
  void finish(bool isWhole);
  /// Waits for finish() and returns whether every kernel was published. Returns false at once in a forked child, where no compilation continues.
  bool await();

  std::vector<KernelEntry> published() const;

private:
  mutable std::mutex mutex;
  std::condition_variable finished;
  std::vector<KernelEntry> kernels;                             ///< guarded by mutex, as all below
  std::vector<std::function<void(const KernelEntry &)>> listeners;
  std::vector<std::function<void(const std::vector<KernelEntry> &)>> atEnd;
  bool isFinished = false, isWhole = false;
  const int process;
};

/// Returns `program` with the machine code of `kernels` for kernels of the same symbols, and without upgrades.
Program upgraded(const Program &program, const std::vector<KernelEntry> &kernels);

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelUpgrades.h - Better machine code for a program that runs ------===//
// The tiered mode of the compiler gives out a program with machine code that was made quickly, and goes on in the background. Each kernel
// that is compiled well comes through here: to the code that is loaded (Loader.h), and, when all are there, to the cache.
#pragma once
#include "runtime/program/KernelEntry.h"
#include "runtime/program/Program.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::runtime {

/// Thread-safe. Who compiles calls publish() and, in the end in any case, finish().
class KernelUpgrades {
public:
  KernelUpgrades();

  /// `listener` gets all kernels that were published, then those that will be: on the publisher's thread. It must not call back.
  void listen(std::function<void(const KernelEntry &)> listener);
  /// Called once with all kernels when the last one is there: at once if it is, else on the publisher's thread; never if finish(false).
  void whenWhole(std::function<void(const std::vector<KernelEntry> &)> call);
  void publish(KernelEntry kernel);
  /// `isWhole`: every kernel was published.
  void finish(bool isWhole);
  /// Waits for finish(); whether every kernel was published. False at once in a forked child, where nobody compiles.
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

/// `program` with the machine code of `kernels` where it has kernels of the same symbols, and no upgrades to come.
Program upgraded(const Program &program, const std::vector<KernelEntry> &kernels);

} // namespace millrace::runtime

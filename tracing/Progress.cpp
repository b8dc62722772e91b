// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.cpp - Recorded collectives that other processes wait for ---===//
#include "tracing/Progress.h"

#include <chrono>
#include <utility>

namespace millrace::tracing {
namespace {

/// Between two looks: a process that records a collective reads a value, or comes to a step barrier, sooner than that as a rule.
constexpr std::chrono::milliseconds kPause(100);

} // namespace

void Progress::notify() {
  std::lock_guard lock(mutex);
  isNotified = true;
  if (!isStopped && !std::exchange(isLooking, true))
    thread.add([this] { look(); });
}

void Progress::stop() {
  {
    std::lock_guard lock(mutex);
    isStopped = true;
    changed.notify_all();
  }
  thread.stop();
}

/// Until nobody waits any more.
void Progress::look() {
  std::unique_lock lock(mutex);
  bool goesOn = true;
  while (goesOn || isNotified) {
    isNotified = false;
    if (changed.wait_for(lock, kPause, [&] { return isStopped; }))
      return;
    lock.unlock();
    goesOn = isAwaited();
    if (goesOn)
      push();
    lock.lock();
  }
  isLooking = false;
}

} // namespace millrace::tracing

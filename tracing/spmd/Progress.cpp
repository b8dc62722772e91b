// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.cpp - Start collectives that other processes wait for ------===//
#include "tracing/spmd/Progress.h"

#include <chrono>
#include <utility>

namespace millrace::tracing {
namespace {

/// The time between two checks. It is longer than the usual time from recording a collective to reading its value or to the next step barrier.
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

/// Runs until no process waits any more.
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

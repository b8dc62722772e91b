// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.cpp - Recorded collectives that other processes wait for ---===//
#include "tracing/Progress.h"

#include <chrono>

namespace millrace::tracing {
namespace {

/// Between two looks: a process that records a collective reads a value, or comes to a step barrier, sooner than that as a rule.
constexpr std::chrono::milliseconds kPause(100);

} // namespace

void Progress::notify() {
  std::lock_guard lock(mutex);
  if (isStopped)
    return;
  isNotified = true;
  if (!thread.joinable())
    thread = std::thread([this] { loop(); });
  changed.notify_all();
}

void Progress::stop() {
  std::thread ended;
  {
    std::lock_guard lock(mutex);
    isStopped = true;
    changed.notify_all();
    std::swap(ended, thread);
  }
  if (ended.joinable())
    ended.join();
}

void Progress::loop() {
  std::unique_lock lock(mutex);
  while (!isStopped) {
    changed.wait(lock, [&] { return isNotified || isStopped; });
    isNotified = false;
    while (!isStopped) {
      changed.wait_for(lock, kPause, [&] { return isStopped; });
      if (isStopped)
        return;
      lock.unlock();
      bool goesOn = isAwaited();
      if (goesOn)
        push();
      lock.lock();
      if (!goesOn)
        break;
    }
  }
}

} // namespace millrace::tracing

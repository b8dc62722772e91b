// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.h - Start collectives that other processes wait for --------===//
// A process may record a collective and then wait, outside of the device, for another process that first needs the collective's value: at a barrier
// of another backend, or for a file. That would be a deadlock. A thread therefore starts the recorded collectives when another process has announced
// that it waits.
#pragma once
#include "runtime/base/TaskThread.h"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace millrace::tracing {

class Progress {
public:
  /// `push` is called a few times a second as long as `isAwaited` returns true.
  Progress(std::function<bool()> isAwaited, std::function<void()> push) : isAwaited(std::move(isAwaited)), push(std::move(push)) {}
  ~Progress() { stop(); }
  /// Says that another process waits, or may wait. Returns at once.
  void notify();
  /// Stops the thread, after the call of `push` in progress has ended.
  void stop();

private:
  void look();

  const std::function<bool()> isAwaited;
  const std::function<void()> push;
  std::mutex mutex;
  std::condition_variable changed;
  bool isNotified = false, isLooking = false, isStopped = false; ///< guarded by mutex
  runtime::TaskThread thread;                                    ///< starts with the first notification
};

} // namespace millrace::tracing

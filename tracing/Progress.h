// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.h - Recorded collectives that other processes wait for -----===//
// A process may record a collective and then wait for something else, outside of the device, that another one does only after it has the
// collective's value: a barrier of another backend, a file. Nobody would go on. So a thread starts what was recorded when another process has
// said that it waits.
#pragma once
#include "runtime/base/TaskThread.h"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace millrace::tracing {

class Progress {
public:
  /// `push` is called as long as `isAwaited`, a few times a second.
  Progress(std::function<bool()> isAwaited, std::function<void()> push) : isAwaited(std::move(isAwaited)), push(std::move(push)) {}
  ~Progress() { stop(); }
  /// Somebody waits, or may. Returns at once.
  void notify();
  /// Waits for the end of a push.
  void stop();

private:
  void look();

  const std::function<bool()> isAwaited;
  const std::function<void()> push;
  std::mutex mutex;
  std::condition_variable changed;
  bool isNotified = false, isLooking = false, isStopped = false; ///< guarded by mutex
  runtime::TaskThread thread;                                    ///< begins with the first notification
};

} // namespace millrace::tracing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TaskThread.h - Tasks for a thread that begins when it is needed -----===//
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace millrace::runtime {

/// Runs tasks one after the other, in order, on one thread of its own. Thread-safe.
class TaskThread {
public:
  ~TaskThread() { stop(); }
  /// Returns at once. False after stop().
  bool add(std::function<void()> task);
  /// Waits for the tasks that are there; there will be no more. Not to be called by a task.
  void stop();

private:
  void loop();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks; ///< guarded by mutex
  bool isStopped = false;                  ///< guarded by mutex
  std::thread thread;                      ///< begins with the first task; guarded by mutex
};

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TaskThread.h - A thread that runs tasks in order --------------------===//
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace millrace::runtime {

/// Runs tasks one after the other, in order, on one thread of its own, which starts with the first task. Thread-safe.
class TaskThread {
public:
  ~TaskThread() { stop(); }
  /// Enqueues a task and returns at once. Returns false after stop().
  bool add(std::function<void()> task);
  /// Accepts no further tasks and waits for the queued ones. Must not be called by a task.
  void stop();

private:
  void loop();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks; ///< guarded by mutex
  bool isStopped = false;                  ///< guarded by mutex
  std::thread thread;                      ///< starts with the first task; guarded by mutex
};

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TaskThreads.h - Threads that run the tasks of foreign handlers ------===//
// These threads are not those of the pool for kernels: a foreign task may block, which would stop all kernels.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>

namespace millrace::runtime::ffi {

class TaskThreads {
public:
  using Task = void (*)(void *);
  /// Of the process; the threads start with the first task and are never joined.
  static TaskThreads &global();
  /// 1 where there are none (in a forked child); tasks then run in schedule().
  unsigned size() const;
  void schedule(Task task, void *data);

private:
  TaskThreads();
  void work();
  const unsigned count;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::pair<Task, void *>> tasks; ///< guarded by mutex
  unsigned started = 0, idle = 0;            ///< guarded by mutex
};

} // namespace millrace::runtime::ffi

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TaskThreads.h - Threads that run tasks of FFI handlers --------------===//
// These threads are separate from the pool for kernels, because a task of a handler may block, which would stop all kernels.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>

namespace millrace::runtime::ffi {

class TaskThreads {
public:
  using Task = void (*)(void *);
  /// Returns the threads of the process, which start with the first task and are never joined.
  static TaskThreads &global();
  /// Returns the number of threads; 1 if there are none (in a forked child), where schedule() runs the tasks itself.
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

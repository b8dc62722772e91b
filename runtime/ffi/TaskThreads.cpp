// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TaskThreads.cpp - Threads that run the tasks of foreign handlers ----===//
#include "runtime/ffi/TaskThreads.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/FloatModes.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <system_error>
#include <thread>

namespace millrace::runtime::ffi {
namespace {

std::atomic<bool> forked{false};

} // namespace

TaskThreads::TaskThreads() : count(std::max(1u, defaultThreadCount())) {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

TaskThreads &TaskThreads::global() {
  static TaskThreads *threads = new TaskThreads;
  return *threads;
}

unsigned TaskThreads::size() const { return forked ? 1 : count; }

void TaskThreads::schedule(Task task, void *data) {
  if (forked)
    return task(data);
  std::unique_lock lock(mutex);
  if (idle <= tasks.size() && started < count) {
    try {
      std::thread([this] { work(); }).detach();
      ++started;
    } catch (const std::system_error &) {
      // The system grants no further thread; those that run will execute the task.
      if (started == 0) {
        lock.unlock();
        return task(data);
      }
    }
  }
  tasks.emplace_back(task, data);
  lock.unlock();
  wake.notify_one();
}

void TaskThreads::work() {
  std::unique_lock lock(mutex);
  while (true) {
    ++idle;
    wake.wait(lock, [&] { return !tasks.empty(); });
    --idle;
    auto [task, data] = tasks.front();
    tasks.pop_front();
    lock.unlock();
    {
      const DefaultFloatModes modes; // the tasks are foreign code
      task(data);
    }
    lock.lock();
  }
}

} // namespace millrace::runtime::ffi

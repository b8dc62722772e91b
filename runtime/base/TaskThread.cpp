// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TaskThread.cpp - Tasks for a thread that begins when it is needed ---===//
#include "runtime/base/TaskThread.h"

namespace millrace::runtime {

bool TaskThread::add(std::function<void()> task) {
  std::lock_guard lock(mutex);
  if (isStopped)
    return false;
  tasks.push_back(std::move(task));
  if (!thread.joinable())
    thread = std::thread([this] { loop(); });
  changed.notify_all();
  return true;
}

void TaskThread::stop() {
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

void TaskThread::loop() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return isStopped || !tasks.empty(); });
    if (tasks.empty())
      return;
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr; // what it holds ends without the lock
    lock.lock();
  }
}

} // namespace millrace::runtime

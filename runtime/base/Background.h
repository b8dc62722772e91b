// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Background.h - Work that can wait -----------------------------------===//
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace millrace::runtime {

/// One thread of low priority for work whose result is nice to have; it lives while there are jobs. Thread-safe.
class Background {
public:
  /// One step of the job; returns whether there are more. Steps of all jobs run one at a time, those of an older job first. Called with
  /// true instead once, and never again, when the process ends or the system gives no thread.
  using Job = std::function<bool(bool isOver)>;

  /// Who ends the process waits for the step that runs; who forks, too, so that the child finds what steps work on in order. The child
  /// forgets the jobs of its parent.
  static Background &ofProcess();

  void add(Job job);

private:
  void work();
  void stop();
  void stopAtExit();
  void beforeFork();
  void afterFork();
  void inChild();

  std::mutex turn;      ///< of who takes `step` next; before it. Without, the thread has `step` again before who waits for it wakes up
  std::mutex step;      ///< held during a step; before `mutex`
  std::mutex mutex;     ///< guards the next three
  std::deque<Job> jobs; ///< the first one is at work
  std::unique_ptr<std::thread> thread;
  bool isRunning = false; ///< the thread will look for jobs again
  std::atomic<bool> isOver{false};
};

} // namespace millrace::runtime

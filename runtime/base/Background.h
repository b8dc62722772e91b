// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Background.h - Low-priority background jobs -------------------------===//
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace millrace::runtime {

/// One thread of low priority for jobs whose results are optional. The thread exists while there are jobs. Thread-safe.
class Background {
public:
  /// Runs one step of the job and returns whether there are more. The steps of all jobs run one at a time, those of an older job first. When the
  /// process ends, or if no thread can be started, a job is called with true once instead, and never again.
  using Job = std::function<bool(bool isOver)>;

  /// Returns the queue of the process. The end of the process, and a fork, wait for the running step, so that a child finds the data of steps in a
  /// consistent state. A child does not inherit the jobs of its parent.
  static Background &ofProcess();

  void add(Job job);
  /// Adds a job that starts after `delay`, behind the jobs that are queued by then, or when the process ends. The job must not construct objects that
  /// are destroyed at exit.
  void addLater(Job job, std::chrono::milliseconds delay);

private:
  using Clock = std::chrono::steady_clock;
  struct Item {
    Job step;
    bool constructs; ///< the job may construct objects that are destroyed at exit
  };
  /// Returns true if a thread will take jobs, and starts one if needed. The caller holds `mutex`.
  bool startThread();
  void takeDue();
  void work();
  void stop();
  void stopAtExit();
  void beforeFork();
  void afterFork();
  void inChild();

  std::mutex turn;      ///< taken before `step` by whoever takes `step` next; it lets waiters precede the thread's next step
  std::mutex step;      ///< held during a step; before `mutex`
  std::mutex mutex;     ///< guards the next five
  std::deque<Item> jobs; ///< the first one is running
  std::multimap<Clock::time_point, Job> later;
  std::unique_ptr<std::condition_variable> changed = std::make_unique<std::condition_variable>(); ///< signals the thread between jobs
  std::unique_ptr<std::thread> thread;
  bool isRunning = false; ///< the thread will take further jobs
  std::atomic<bool> isOver{false};
};

} // namespace millrace::runtime

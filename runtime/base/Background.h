// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Background.h - Work that can wait -----------------------------------===//
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
  /// As above after `delay`, behind the jobs that are there by then; with the end of the process the time has come, too. The job constructs
  /// nothing that is destroyed at exit.
  void addLater(Job job, std::chrono::milliseconds delay);

private:
  using Clock = std::chrono::steady_clock;
  struct Item {
    Job step;
    bool constructs; ///< objects that are destroyed at exit, perhaps
  };
  /// With `mutex` held: whether there is a thread that will look for jobs.
  bool startThread();
  void takeDue();
  void work();
  void stop();
  void stopAtExit();
  void beforeFork();
  void afterFork();
  void inChild();

  std::mutex turn;      ///< of who takes `step` next; before it. Without, the thread has `step` again before who waits for it wakes up
  std::mutex step;      ///< held during a step; before `mutex`
  std::mutex mutex;     ///< guards the next five
  std::deque<Item> jobs; ///< the first one is at work
  std::multimap<Clock::time_point, Job> later;
  std::unique_ptr<std::condition_variable> changed = std::make_unique<std::condition_variable>(); ///< what the thread waits for between jobs
  std::unique_ptr<std::thread> thread;
  bool isRunning = false; ///< the thread will look for jobs again
  std::atomic<bool> isOver{false};
};

} // namespace millrace::runtime

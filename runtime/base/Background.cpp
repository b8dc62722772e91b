// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Background.cpp - Work that can wait ---------------------------------===//
#include "runtime/base/Background.h"
#include "runtime/base/FloatModes.h"

#include <cstdlib>
#include <pthread.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace millrace::runtime {

Background &Background::ofProcess() {
  static Background &background = *[] {
    auto *created = new Background; // never destroyed; stop() ends its thread
    pthread_atfork([] { ofProcess().beforeFork(); }, [] { ofProcess().afterFork(); }, [] { ofProcess().inChild(); });
    return created;
  }();
  return background;
}

/// Before anything that is destroyed at exit and is there by now; on the main thread, before all of it: exit() begins with the objects of the
/// thread that calls it.
void Background::stopAtExit() {
  struct Stopper {
    ~Stopper() { ofProcess().stop(); }
  };
  if (::gettid() == ::getpid()) {
    static thread_local Stopper ofMainThread;
  }
  std::atexit([] { ofProcess().stop(); }); // the latest registration is called first
}

bool Background::startThread() {
  if (isOver)
    return false;
  if (isRunning)
    return true;
  if (thread)
    thread->join(); // its work() has nothing left to do but return
  thread.reset();
  try {
    thread = std::make_unique<std::thread>([this] { work(); });
    isRunning = true;
  } catch (const std::system_error &) {
  }
  return isRunning;
}

void Background::add(Job job) {
  stopAtExit();
  {
    std::lock_guard lock(mutex);
    if (startThread()) {
      jobs.push_back({std::move(job), true});
      changed->notify_one();
      return;
    }
  }
  job(true);
}

void Background::addLater(Job job, std::chrono::milliseconds delay) {
  {
    std::lock_guard lock(mutex);
    if (!isRunning) // else it is registered again: a periodic job would run for ever
      stopAtExit();
    if (startThread()) {
      later.emplace(Clock::now() + delay, std::move(job));
      changed->notify_one();
      return;
    }
  }
  job(true);
}

void Background::takeDue() {
  auto end = isOver ? later.end() : later.upper_bound(Clock::now());
  for (auto due = later.begin(); due != end; due = later.erase(due))
    jobs.push_back({std::move(due->second), false});
}

void Background::work() {
  ::setpriority(PRIO_PROCESS, 0, 10); // on Linux: of this thread
  const DefaultFloatModes modes;
  for (;;) {
    Item *job;
    {
      std::unique_lock lock(mutex);
      while (takeDue(), jobs.empty()) {
        if (later.empty()) {
          isRunning = false;
          return;
        }
        changed->wait_until(lock, later.begin()->first);
      }
      job = &jobs.front(); // stays where it is while others are added behind it
    }
    if (job->constructs)
      stopAtExit(); // before what earlier steps constructed is destroyed
    std::unique_lock isNext(turn); // who forks comes before the next step
    std::lock_guard atWork(step);
    isNext.unlock();
    bool isLast = isOver;
    if (job->step(isLast) && !isLast)
      continue;
    std::lock_guard lock(mutex);
    Item done = std::move(jobs.front());
    jobs.pop_front();
  }
}

void Background::stop() {
  std::unique_ptr<std::thread> last;
  {
    std::lock_guard lock(mutex);
    isOver = true;
    last = std::move(thread);
    changed->notify_one();
  }
  if (last)
    last->join();
}

void Background::beforeFork() {
  turn.lock();
  step.lock();
  mutex.lock();
}

void Background::afterFork() {
  mutex.unlock();
  step.unlock();
  turn.unlock();
}

void Background::inChild() {
  (void)thread.release(); // of the parent: it can be neither joined nor destroyed, nor can what it waits for
  (void)changed.release();
  changed = std::make_unique<std::condition_variable>();
  isRunning = false;
  jobs.clear();
  later.clear();
  afterFork();
}

} // namespace millrace::runtime

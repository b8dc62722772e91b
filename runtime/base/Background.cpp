// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Background.cpp - Work that can wait ---------------------------------===//
#include "runtime/base/Background.h"

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

void Background::add(Job job) {
  stopAtExit();
  {
    std::lock_guard lock(mutex);
    if (!isOver && isRunning)
      return jobs.push_back(std::move(job));
    if (thread)
      thread->join(); // its work() has nothing left to do but return
    thread.reset();
    try {
      if (!isOver)
        thread = std::make_unique<std::thread>([this] { work(); });
    } catch (const std::system_error &) {
    }
    if (thread) {
      isRunning = true;
      jobs.push_back(std::move(job));
      return;
    }
  }
  job(true);
}

void Background::work() {
  ::setpriority(PRIO_PROCESS, 0, 10); // on Linux: of this thread
  for (;;) {
    Job *job;
    {
      std::lock_guard lock(mutex);
      if (jobs.empty()) {
        isRunning = false;
        return;
      }
      job = &jobs.front(); // stays where it is while others are added behind it
    }
    stopAtExit(); // before what earlier steps constructed is destroyed
    std::unique_lock isNext(turn); // who forks comes before the next step
    std::lock_guard atWork(step);
    isNext.unlock();
    bool isLast = isOver;
    if ((*job)(isLast) && !isLast)
      continue;
    std::lock_guard lock(mutex);
    Job done = std::move(jobs.front());
    jobs.pop_front();
  }
}

void Background::stop() {
  isOver = true;
  std::unique_ptr<std::thread> last;
  {
    std::lock_guard lock(mutex);
    last = std::move(thread);
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
  (void)thread.release(); // of the parent: it can be neither joined nor destroyed
  isRunning = false;
  jobs.clear();
  afterFork();
}

} // namespace millrace::runtime

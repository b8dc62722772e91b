// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ending.cpp - Threads that still run when the interpreter ends --------===//
#include "python/torch_xla/csrc/Ending.h"
#include "python/torch_xla/csrc/Gil.h"
#include "tracing/Session.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

namespace millrace::torch_shim {

std::atomic<bool> isEnding{false};

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Five of CPython's switch intervals (sys.setswitchinterval()): who has begun no operator for that long is at something else.
constexpr auto kIdle = 25ms;
/// For that long the end waits for threads that are busy with operators: they have to get the GIL once, on a busy machine, too.
constexpr auto kLongestWait = 2s;
/// For that long threads stay although the interpreter has not ended: functions registered with atexit before ours may still run, and one
/// of them may wait for such a thread.
constexpr auto kPatience = 5s;

std::thread::id ender;
Clock::time_point patienceEnds;
std::terminate_handler before = nullptr;

/// The interpreter ends, or has ended, and this is another thread.
bool isLeftBehind() { return std::this_thread::get_id() != ender && !Py_IsInitialized(); }

[[noreturn]] void stay() {
  while (true)
    ::pause();
}

/// Without an exception, in a thread that is left behind: pthread_exit() has come to a destructor.
[[noreturn]] void onTerminate() {
  if (isLeftBehind() && !std::current_exception())
    stay();
  if (before)
    before();
  std::abort();
}

/// A thread that uses the device; of one that is gone, free for another.
struct User {
  std::atomic<bool> looks{false}, isTaken{true}, stays{false};
  std::atomic<uint64_t> looked{0}; ///< how often
  User *next = nullptr;
  uint64_t seen = 0; ///< for beginEnding()
};
std::atomic<User *> all{nullptr};

/// The entry of this thread.
User &ofThread() {
  struct Entry {
    User *user = nullptr;
    Entry() {
      for (User *known = all.load(); known && !user; known = known->next)
        if (!known->isTaken.exchange(true))
          user = known;
      if (user)
        return;
      user = new User; // stays in the list
      user->next = all.load();
      while (!all.compare_exchange_weak(user->next, user)) {
      }
    }
    ~Entry() { user->isTaken = false; }
  };
  static thread_local Entry entry;
  return *entry.user;
}

/// Returns when every other thread stays, or has begun no operator for a while.
void awaitOthers() {
  const User *own = &ofThread();
  const Clock::time_point latest = Clock::now() + kLongestWait;
  Clock::time_point lastSign = Clock::now();
  bool isFirst = true;
  while (Clock::now() < latest) {
    bool areAllStaying = true;
    for (User *user = all.load(); user; user = user->next) {
      if (user == own || !user->isTaken || user->stays)
        continue;
      areAllStaying = false;
      uint64_t now = user->looked.load();
      if (user->looks || (now != user->seen && !isFirst))
        lastSign = Clock::now();
      user->seen = now;
    }
    if (areAllStaying || Clock::now() - lastSign > kIdle)
      break;
    isFirst = false;
    std::this_thread::sleep_for(1ms);
  }
  for (const User *user = all.load(); user; user = user->next) // frames go with the interpreter
    while (user != own && user->looks)
      std::this_thread::yield();
}

} // namespace

FramesScope::FramesScope() {
  User &user = ofThread();
  looks = &user.looks;
  user.looked.store(user.looked.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  looks->store(true); // before isEnding is read, as beginEnding() sets that before it reads this
  isAllowed = !isEnding.load();
}

void beginEnding() {
  ender = std::this_thread::get_id();
  patienceEnds = Clock::now() + kPatience;
  if (!isEnding.exchange(true))
    before = std::set_terminate(onTerminate);
  WithoutGil released; // others take it and come to their next operator
  awaitOthers();
}

void stayWhileEnding() {
  // Others may wait for the session's mutex, or the GIL: who has it gives it back first.
  if (std::this_thread::get_id() == ender || tracing::Session::get().mutex.heldByThisThread() || (Py_IsInitialized() && PyGILState_Check()))
    return;
  User &user = ofThread();
  user.stays = true;
  while (Clock::now() < patienceEnds)
    std::this_thread::sleep_for(1ms);
  if (isLeftBehind())
    stay();
  user.stays = false;
}

} // namespace millrace::torch_shim

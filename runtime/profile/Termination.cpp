// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Termination.cpp - What a process does before SIGTERM ends it --------===//
// The handler wakes a thread, because a handler itself may neither allocate nor take locks. That thread ends the process by the signal, so that
// parents see what has ended it.
#include "runtime/profile/Termination.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace millrace::runtime::profile {
namespace {

/// So long a process whose recording is written goes on. Unit: seconds. Source: judgement, not measured alone: a recording of 112 MiB takes about
/// two; Kubernetes kills a process 30 seconds after SIGTERM, systemd after 90.
constexpr int kMostSecondsOfFinish = 20;

struct State {
  std::mutex mutex;
  std::map<uint64_t, std::function<void()>> finishers;
  uint64_t next = 0;
  sem_t asked;
};

State &get() {
  static State *state = [] {
    auto *made = new State;
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { get().mutex.unlock(); });
    return made;
  }();
  return *state;
}

/// The process whose thread waits for the handler; the handler is inherited by its children, which end at once.
std::atomic<pid_t> owner{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "the handler reads it");
sem_t *asked = nullptr; ///< set before the handler is installed

void onSignal(int) {
  const int kept = errno;
  if (owner.load() == getpid()) {
    sem_post(asked);
  } else {
    std::signal(SIGTERM, SIG_DFL);
    std::raise(SIGTERM); // delivered when the handler returns
  }
  errno = kept;
}

bool isOurs(const struct sigaction &action) { return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == onSignal; }

void awaitSignal() {
  while (sem_wait(asked) != 0 && errno == EINTR) {
  }
  auto finished = std::make_shared<std::promise<void>>();
  std::thread([finished] {
    std::vector<std::function<void()>> finishers;
    {
      std::lock_guard lock(get().mutex);
      for (const auto &[number, finish] : get().finishers)
        finishers.push_back(finish);
    }
    for (const auto &finish : finishers)
      finish();
    finished->set_value();
  }).detach();
  (void)finished->get_future().wait_for(std::chrono::seconds(kMostSecondsOfFinish));
  std::signal(SIGTERM, SIG_DFL);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  std::raise(SIGTERM);
}

/// Lets a thread wait for the signal, with all others blocked: they are the program's.
void startThread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(awaitSignal).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

BeforeTermination::BeforeTermination(std::function<void()> finish) {
  State &state = get();
  std::lock_guard lock(state.mutex);
  number = ++state.next;
  if (owner.load() != getpid()) { // the first of this process, which has none of its parent's threads
    state.finishers.clear();
    sem_init(&state.asked, 0, 0);
    asked = &state.asked;
    startThread();
    owner.store(getpid());
  }
  state.finishers.emplace(number, std::move(finish));
  struct sigaction current = {};
  sigaction(SIGTERM, nullptr, &current);
  if (!isOurs(current) && ((current.sa_flags & SA_SIGINFO) || current.sa_handler != SIG_DFL))
    return; // the program's own
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
}

BeforeTermination::~BeforeTermination() {
  State &state = get();
  std::lock_guard lock(state.mutex);
  state.finishers.erase(number);
  struct sigaction current = {};
  sigaction(SIGTERM, nullptr, &current);
  if (state.finishers.empty() && isOurs(current))
    std::signal(SIGTERM, SIG_DFL);
}

} // namespace millrace::runtime::profile

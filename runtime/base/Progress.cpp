// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.cpp - A line on stderr for a person who waits -------------===//
#include "runtime/base/Progress.h"

#include "runtime/base/Environment.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace millrace::runtime {

Progress::Progress(std::string task) : task(std::move(task)) {
  onTerminal = ::isatty(STDERR_FILENO);
  if (environment::asSwitch("MILLRACE_PROGRESS").value_or(onTerminal))
    thread = std::thread([this] { work(); });
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  thread.join();
}

void Progress::show(std::string what) {
  if (!thread.joinable())
    return;
  std::lock_guard lock(mutex);
  latest = std::move(what);
}

void Progress::work() {
  using namespace std::chrono_literals;
  bool isVisible = false;
  std::unique_lock lock(mutex);
  for (auto wait = 1000ms; !changed.wait_for(lock, wait, [this] { return isOver; }); wait = onTerminal ? 200ms : 1000ms) {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::string text = task + (task.empty() || latest.empty() ? "" : ": ") + latest;
    std::fprintf(stderr, onTerminal ? "\r\033[K%.0f s: %s" : "%.0f s: %s\n", seconds, text.c_str());
    std::fflush(stderr);
    isVisible = true;
  }
  if (isVisible && onTerminal) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.h - A progress line on standard error ---------------------===//
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace millrace::runtime {

/// Shows the progress of work that takes more than a second, five times a second, on a terminal, and erases the line when the object is destroyed. If
/// standard error is no terminal nothing is shown, unless MILLRACE_PROGRESS=1 asks for a line per second; MILLRACE_PROGRESS=0 shows nothing anywhere.
/// show() is thread-safe.
class Progress {
public:
  /// `task` precedes the text of show(): "compiling jit_step".
  explicit Progress(std::string task = {});
  ~Progress();
  void show(std::string what);

private:
  void work();

  const std::string task;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool onTerminal = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::string latest;    ///< guarded by mutex, like the next member
  bool isOver = false;
  std::thread thread;    ///< not started if nothing will be shown
};

} // namespace millrace::runtime

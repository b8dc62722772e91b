// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.h - A line on stderr for a person who waits ---------------===//
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace millrace::runtime {

/// Shows what is going on once more than a second has passed, five times a second, on a terminal; the line is wiped when the object dies.
/// Where stderr is no terminal nothing is shown, unless MILLRACE_PROGRESS=1 asks for a line per second; MILLRACE_PROGRESS=0 shows nothing
/// anywhere. show() is thread-safe.
class Progress {
public:
  /// `task` stands before what show() says: "compiling jit_step".
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
  std::string latest;    ///< guarded by mutex, as the next
  bool isOver = false;
  std::thread thread;    ///< none where nothing will be shown
};

} // namespace millrace::runtime

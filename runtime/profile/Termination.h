// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Termination.h - What a process does before SIGTERM ends it ----------===//
#pragma once
#include <cstdint>
#include <functional>

namespace millrace::runtime::profile {

/// While one lives, SIGTERM ends the process after another thread has called `finish`, or has tried for kMostSecondsOfFinish; a second SIGTERM ends it at
/// once. The program runs on meanwhile. Of what has an own handler for the signal, or ignores it, nothing changes, nor in forked children. Thread-safe.
class BeforeTermination {
public:
  explicit BeforeTermination(std::function<void()> finish);
  /// `finish` may still be running.
  ~BeforeTermination();
  BeforeTermination(const BeforeTermination &) = delete;

private:
  uint64_t number;
};

} // namespace millrace::runtime::profile

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.h - A line on stderr for a person who waits ---------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <chrono>

namespace millrace::tools {

/// Shows what is going on once more than a second has passed, at most five times a second, and only on a terminal; the
/// line is wiped when the object dies. One thread at a time.
class Progress {
public:
  Progress();
  ~Progress();
  void show(llvm::StringRef what);

private:
  std::chrono::steady_clock::time_point start, last;
  bool terminal, visible = false;
};

} // namespace millrace::tools

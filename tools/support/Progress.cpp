// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Progress.cpp - A line on stderr for a person who waits -------------===//
#include "tools/support/Progress.h"

#include <cstdio>
#include <unistd.h>

namespace millrace::tools {

Progress::Progress() : start(std::chrono::steady_clock::now()), last(start), terminal(isatty(STDERR_FILENO)) {}

Progress::~Progress() {
  if (visible)
    std::fputs("\r\033[K", stderr);
}

void Progress::show(llvm::StringRef what) {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::now();
  if (!terminal || now - start < 1s || now - last < 200ms)
    return;
  last = now;
  visible = true;
  std::fprintf(stderr, "\r\033[K%.0f s: %s", std::chrono::duration<double>(now - start).count(), what.str().c_str());
  std::fflush(stderr);
}

} // namespace millrace::tools

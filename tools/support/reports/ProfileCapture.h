// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileCapture.h - `xla-prof capture` ---------------------------------===//
#pragma once
#include <string>

namespace millrace::tools {

struct ProfileCaptureOptions {
  std::string addresses; ///< of the processes' servers, with commas between them: "localhost:9012"
  std::string folder;    ///< in the processes' file system
  unsigned durationMs = 1000, delayMs = 0;
};

/// Asks processes that serve recordings for one each, waits, and prints the names of the files. Returns the exit status; errors are printed on
/// standard error.
int captureProfile(const ProfileCaptureOptions &options);

} // namespace millrace::tools

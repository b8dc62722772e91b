// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turn.cpp - One process after the other -------------------------------===//
#include "runtime/cache/Turn.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace millrace::runtime {
namespace {

/// The pause between two attempts to take the turn: the compilation that is waited for takes a hundred times as long. Unit: milliseconds. Source:
/// judgement, not measured alone.
constexpr std::chrono::milliseconds kPause(10);

/// Returns true if the descriptor's file still has that name: the former holder may have removed the file.
bool isCurrent(int descriptor, const std::string &file) {
  struct stat held, named;
  return ::fstat(descriptor, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

} // namespace

std::shared_ptr<void> takeTurn(const std::string &file, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
      return nullptr;
    int failed = ::flock(descriptor, LOCK_EX | LOCK_NB) ? errno : 0;
    if (!failed && isCurrent(descriptor, file))
      return std::shared_ptr<void>(nullptr, [descriptor, file](void *) {
        ::unlink(file.c_str());
        ::close(descriptor);
      });
    ::close(descriptor);
    if (failed && failed != EWOULDBLOCK && failed != EINTR)
      return nullptr;
    if (std::chrono::steady_clock::now() >= end)
      return nullptr;
    if (failed)
      std::this_thread::sleep_for(kPause);
  }
}

} // namespace millrace::runtime

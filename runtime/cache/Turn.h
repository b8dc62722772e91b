// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turn.h - Mutual exclusion between processes -------------------------===//
#pragma once
#include <memory>
#include <string>

namespace millrace::runtime {

/// Returns a lock that one thread of all processes of the host holds at a time: an advisory lock on a file, which ends with the process. The file is
/// removed with the lock. Null if the file cannot be locked (a missing folder, a file system without locks), or if others hold the lock for
/// `seconds`.
std::shared_ptr<void> takeTurn(const std::string &file, double seconds);

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turn.h - One process after the other ---------------------------------===//
#pragma once
#include <memory>
#include <string>

namespace millrace::runtime {

/// Held by one thread of all processes of the host at a time: an advisory lock on a file, which goes with the process and is removed with the
/// turn. Null if the file cannot be locked (a folder that is not there, a file system without locks), or if others hold it for `seconds`.
std::shared_ptr<void> takeTurn(const std::string &file, double seconds);

} // namespace millrace::runtime

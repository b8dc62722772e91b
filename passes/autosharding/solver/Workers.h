// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Workers.h - Independent tasks on a few threads ---------------------===//
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace millrace::autosharding {

/// Runs every task once, on at most `threads` threads including the calling one, and returns when all are done. Tasks share no data that one of them
/// writes, so that results do not depend on the number of threads.
void runTasks(const std::vector<std::function<void()>> &tasks, uint32_t threads);

} // namespace millrace::autosharding

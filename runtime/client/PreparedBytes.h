// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparedBytes.h - How much prepared constants may take ---------------===//
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// The bytes of what preparations made and the process keeps: at most MILLRACE_PREPARED_BYTES of the environment, else a quarter of the machine's
/// memory.
uint64_t preparedBytesOfProcess();

/// How many preparations this thread has started for one execution alone, because the process keeps as many bytes as it may.
uint64_t preparationsNotKept();

} // namespace millrace::runtime

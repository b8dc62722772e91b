// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Roofs.h - Measure this machine's peak rates -------------------------===//
#pragma once
#include "runtime/profile/Views.h"

namespace millrace::tools {

/// Measures the multiply-adds per second in registers, and the bytes per second read from working sets in each cache and in memory, on all threads
/// that the process may use. Takes about 0.3 s. The results are the best of several attempts. They are zeros if the processor is no x86-64 with AVX2.
runtime::profile::Roofs measureRoofs();

} // namespace millrace::tools

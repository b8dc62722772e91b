// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Roofs.h - What this machine can do at most, measured now ------------===//
#pragma once
#include "runtime/profile/Views.h"

namespace millrace::tools {

/// Multiply-adds per second in registers, and bytes per second that are read of working sets from a cache's to the memory's, on all threads that
/// the process may use. Takes some 0.3 s. The best of several attempts: a ceiling. Zeros where the processor is no x86-64 with AVX2.
runtime::profile::Roofs measureRoofs();

} // namespace millrace::tools

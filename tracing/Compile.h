// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - StableHLO text to a program, through the cache ----------===//
#pragma once
#include "runtime/base/Status.h"
#include "runtime/program/Program.h"

#include <string>

namespace millrace::tracing {

/// With XLA's semantics. Counts PersistentCacheHit and PersistentCacheMiss.
runtime::StatusOr<runtime::Program> compileText(const std::string &text);
/// The program as HLO text (lowering/hlo).
runtime::StatusOr<std::string> hloText(const std::string &text);
/// Instead of the environment's settings; before the first compileText().
runtime::Status useCacheFolder(const std::string &folder, bool readOnly);

} // namespace millrace::tracing

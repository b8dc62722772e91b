// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - StableHLO text to a program, through the cache ----------===//
#pragma once
#include "runtime/base/Status.h"
#include "runtime/program/Program.h"

#include <memory>
#include <string>

namespace millrace::tracing {

/// With XLA's semantics. Locations name the user's lines in errors and do not matter otherwise. Counts PersistentCacheHit and PersistentCacheMiss.
runtime::StatusOr<std::shared_ptr<const runtime::Program>> compileText(const std::string &text);
/// The program as HLO text (lowering/hlo).
runtime::StatusOr<std::string> hloText(const std::string &text);
/// Instead of the environment's settings; before the first compileText().
runtime::Status useCacheFolder(const std::string &folder, bool readOnly);

} // namespace millrace::tracing

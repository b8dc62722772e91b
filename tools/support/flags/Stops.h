// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stops.h - The stops of --emit ----------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace millrace::tools {

/// Returns an error with the list of stops if `emit` is none of them.
llvm::Error checkStop(llvm::StringRef emit);

} // namespace millrace::tools

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stops.h - What --emit names ----------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace millrace::tools {

/// An error that lists the stops of the compiler if `emit` is none of them.
llvm::Error checkStop(llvm::StringRef emit);

} // namespace millrace::tools

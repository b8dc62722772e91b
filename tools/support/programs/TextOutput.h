// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TextOutput.h - Write text to a file or the terminal ----------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace millrace::tools {

/// Writes `text` to `path`, or to standard output if that is empty or "-". Returns the exit status; an error is printed with the name of `tool`.
int writeText(llvm::StringRef tool, llvm::StringRef path, llvm::StringRef text);

} // namespace millrace::tools

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stops.cpp - The stops of --emit --------------------------------------===//
#include "tools/support/flags/Stops.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace millrace::tools {

llvm::Error checkStop(llvm::StringRef emit) {
  static constexpr llvm::StringLiteral kStops[] = {"stablehlo", "sharded", "partitioned", "simplified", "fused",   "linalg",
                                                   "vector",    "llvm",    "asm",         "object",     "program", "passes"};
  if (llvm::is_contained(kStops, emit))
    return llvm::Error::success();
  return llvm::createStringError("--emit expects one of " + llvm::join(llvm::ArrayRef(kStops), " ") + ", but got '" + emit.str() + "'");
}

} // namespace millrace::tools

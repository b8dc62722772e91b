// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LateKernel.h - A kernel that gets its machine code twice ------------===//
#pragma once
#include "runtime/program/KernelEntry.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace millrace::lowering {

/// A kernel whose machine code was made quickly, without LLVM's optimizations.
struct LateKernel {
  /// Makes the code that it should have, and keeps that for other programs as the compiler does. Owns all that it needs; for one thread.
  std::function<llvm::Expected<runtime::KernelEntry>()> finish;
};

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LateKernel.h - Finish kernels that were compiled quickly ------------===//
#pragma once
#include "runtime/program/KernelEntry.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace millrace::lowering {

/// A kernel whose first machine code was generated quickly, without LLVM's optimizations.
struct LateKernel {
  /// Generates the optimized code, and stores it for other programs as the compiler does. Owns all its data; for one thread.
  std::function<llvm::Expected<runtime::KernelEntry>()> finish;
};

} // namespace millrace::lowering

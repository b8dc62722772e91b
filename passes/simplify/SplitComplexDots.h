// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitComplexDots.h - Products of complex matrices as real ones -----===//
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace millrace::simplify {

/// Pass `xla-split-complex-dots` on functions: replaces products of complex matrices by products of real ones.
std::unique_ptr<mlir::Pass> createSplitComplexDotsPass();
void registerSplitComplexDotsPass();

} // namespace millrace::simplify

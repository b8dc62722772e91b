// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlantBug.h - Deliberate miscompilations for testing the fuzzer -----===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace millrace::tools {

/// Changes the first operation of `family` in `module` into a wrong one that still verifies, as a compiler with a bug in that family would. Families:
/// elementwise data_movement indexing contraction reduction control_flow. Returns false if the module has no operation to change. Test hook of
/// `xla-run --plant-bug`, used by scripts/fuzz --plant.
bool plantBug(mlir::ModuleOp module, llvm::StringRef family);

/// The families of plantBug(), separated by spaces.
inline constexpr llvm::StringLiteral kBugFamilies = "elementwise data_movement indexing contraction reduction control_flow";

} // namespace millrace::tools

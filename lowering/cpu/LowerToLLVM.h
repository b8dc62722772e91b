// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerToLLVM.h - Buffer form to the LLVM dialect --------------------===//
#pragma once

#include "mlir/Pass/PassManager.h"

namespace millrace::lowering {

/// Adds the passes that lower kernels in buffer form (scf, vector, memref, arith, math, complex) and their entry points
/// to the LLVM dialect. Contains only conversions of dialects that kernels use; math is expanded before.
void addLowerToLLVMPasses(mlir::OpPassManager &pm);

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerToLLVM.h - Buffer form to the LLVM dialect --------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace millrace::lowering {

/// Lowers kernels in buffer form (scf, vector, memref, arith, math, complex) and their entry points to the LLVM dialect; math is
/// expanded before. Most kernels need the last step only, the conversion of all dialects at once; what comes before it runs where
/// an operation asks for it. The patterns are collected when it is made, which takes as long as to lower a kernel: one per thread.
class LlvmLowering {
public:
  explicit LlvmLowering(mlir::MLIRContext *context);
  ~LlvmLowering();

  /// `verifyEach`: between the steps, too.
  mlir::LogicalResult run(mlir::ModuleOp module, bool verifyEach) const;
  /// The last step.
  mlir::LogicalResult convert(mlir::ModuleOp module) const;

private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns;
};

/// Adds all that LlvmLowering may do as passes.
void addLowerToLLVMPasses(mlir::OpPassManager &pm);

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerToLLVM.h - Lower the buffer form to the LLVM dialect ----------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace millrace::lowering {

/// Lowers kernels in buffer form (scf, vector, memref, arith, math, complex) and their entry points to the LLVM dialect; math has been expanded
/// before. Most kernels need only the last step, the conversion of all dialects at once; earlier steps run if an operation needs them. The
/// constructor builds the patterns, which takes as long as lowering a kernel: one instance per thread.
class LlvmLowering {
public:
  explicit LlvmLowering(mlir::MLIRContext *context);
  ~LlvmLowering();

  /// `verifyEach`: the verifier runs between the steps.
  mlir::LogicalResult run(mlir::ModuleOp module, bool verifyEach) const;
  /// Does the last step only.
  mlir::LogicalResult convert(mlir::ModuleOp module) const;

private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns;
};

/// Adds all steps of LlvmLowering as passes.
void addLowerToLLVMPasses(mlir::OpPassManager &pm);

} // namespace millrace::lowering

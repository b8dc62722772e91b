// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLowerings.h - Reuse pass managers and patterns of kernels ----===//
#pragma once

#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/LowerToLLVM.h"

#include "mlir/Pass/PassManager.h"

#include <memory>
#include <mutex>
#include <vector>

namespace millrace::lowering {

/// The pass managers and frozen patterns that lower a kernel from stablehlo to the LLVM dialect. Building them takes as long as lowering several
/// kernels, so one instance lowers many. An instance belongs to one context and serves one thread at a time.
struct KernelLowerings {
  /// `verifyEach`: the verifier runs after every pass. `avx512`: the expansions of math functions may use its instructions.
  KernelLowerings(mlir::MLIRContext *context, bool verifyEach, bool avx512);

  mlir::PassManager toLinalg, expandMath;
  GenericLowering generic;
  LlvmLowering toLLVM;
  const bool avx512;
};

/// The idle instances of one context. Thread-safe.
class KernelLoweringsPool {
public:
  /// Returns an idle instance, else a new one; the verifier does not run between its passes.
  std::unique_ptr<KernelLowerings> take(mlir::MLIRContext *context, bool avx512);
  void give(std::unique_ptr<KernelLowerings> lowerings);

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<KernelLowerings>> idle;
};

} // namespace millrace::lowering

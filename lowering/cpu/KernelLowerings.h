// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLowerings.h - Pass managers and patterns that lower kernels --===//
#pragma once

#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/LowerToLLVM.h"

#include "mlir/Pass/PassManager.h"

#include <memory>
#include <mutex>
#include <vector>

namespace millrace::lowering {

/// The pass managers and frozen patterns that take a kernel from stablehlo to the LLVM dialect. Collecting them takes as long as lowering
/// several kernels, so one instance lowers many. An instance belongs to one context and serves one thread at a time.
struct KernelLowerings {
  /// `verifyEach`: the verifier runs after every pass. `avx512`: the expansions of math functions may use its instructions.
  KernelLowerings(mlir::MLIRContext *context, bool verifyEach, bool avx512);

  mlir::PassManager toLinalg, expandMath;
  GenericLowering generic;
  LlvmLowering toLLVM;
  const bool avx512;
};

/// The instances of one context that no thread uses at the moment. Thread-safe.
class KernelLoweringsPool {
public:
  /// An idle instance, else a new one; without the verifier between passes.
  std::unique_ptr<KernelLowerings> take(mlir::MLIRContext *context, bool avx512);
  void give(std::unique_ptr<KernelLowerings> lowerings);

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<KernelLowerings>> idle;
};

} // namespace millrace::lowering

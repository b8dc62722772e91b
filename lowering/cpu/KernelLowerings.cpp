// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLowerings.cpp - Reuse pass managers and patterns of kernels --===//
#include "lowering/cpu/KernelLowerings.h"

#include "lowering/cpu/KernelCompiler.h"
#include "lowering/cpu/math/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::lowering {

KernelLowerings::KernelLowerings(MLIRContext *context, bool verifyEach, bool avx512)
    : toLinalg(context, ModuleOp::getOperationName()), expandMath(context, ModuleOp::getOperationName()), generic(context, verifyEach),
      toLLVM(context), avx512(avx512) {
  toLinalg.enableVerifier(verifyEach);
  addLinalgPasses(toLinalg);
  expandMath.enableVerifier(verifyEach);
  expandMath.addPass(createExpandMathPass({avx512}));
}

std::unique_ptr<KernelLowerings> KernelLoweringsPool::take(MLIRContext *context, bool avx512) {
  {
    std::lock_guard lock(mutex);
    auto found = llvm::find_if(idle, [&](const auto &each) { return each->avx512 == avx512; });
    if (found != idle.end()) {
      std::unique_ptr<KernelLowerings> taken = std::move(*found);
      idle.erase(found);
      return taken;
    }
  }
  return std::make_unique<KernelLowerings>(context, /*verifyEach=*/false, avx512);
}

void KernelLoweringsPool::give(std::unique_ptr<KernelLowerings> lowerings) {
  std::lock_guard lock(mutex);
  idle.push_back(std::move(lowerings));
}

} // namespace millrace::lowering

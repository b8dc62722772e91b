// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovement.cpp - Transposes --------------------------------------===//
#include "lowering/cpu/emitters/EmitterShell.h"

using namespace mlir;

namespace millrace::lowering {

FailureOr<EmittedKernel> emitDataMovement(func::FuncOp fn, const KernelTarget &target) {
  std::string why;
  FailureOr<KernelModel> model = buildKernelModel(fn, why);
  if (failed(model))
    return refuse(fn, "movement", why);
  return refuse(fn, "movement", "no transposed access");
}

} // namespace millrace::lowering

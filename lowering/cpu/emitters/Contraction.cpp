// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contraction.cpp - Sums of products ----------------------------------===//
#include "lowering/cpu/emitters/EmitterShell.h"

using namespace mlir;

namespace millrace::lowering {

FailureOr<EmittedKernel> emitContraction(func::FuncOp fn, const KernelTarget &target) {
  std::string why;
  FailureOr<KernelModel> model = buildKernelModel(fn, why);
  if (failed(model))
    return refuse(fn, "contraction", why);
  return refuse(fn, "contraction", "no sum of products");
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCost.h - Arithmetic and traffic of a kernel ------------------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace millrace::lowering {

struct KernelCost {
  double flops = 0; ///< operations on real numbers or integers; a multiply-add is two, a transcendental function one
  double bytes = 0; ///< of arguments and results, each once
};

/// Counts the StableHLO operations of `kernel`. Values of dynamic shape count as zero.
KernelCost kernelCost(mlir::func::FuncOp kernel);

} // namespace millrace::lowering

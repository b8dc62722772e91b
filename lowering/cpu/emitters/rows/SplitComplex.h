// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitComplex.h - Rewrite complex kernels on real tensors -----------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace millrace::lowering {

/// Returns true if some value of the kernel is complex.
bool usesComplex(mlir::func::FuncOp fn);

/// Creates, after the kernel, a copy that computes the same with real elements on the same buffers; on failure `why` names the unsupported operation.
mlir::FailureOr<mlir::func::FuncOp> splitComplex(mlir::func::FuncOp fn, std::string &why);

} // namespace millrace::lowering

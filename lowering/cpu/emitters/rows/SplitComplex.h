// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitComplex.h - Kernels of complex numbers on real tensors --------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace millrace::lowering {

/// Some value of the kernel is complex.
bool usesComplex(mlir::func::FuncOp fn);

/// A copy of the kernel behind it that computes the same with real numbers, on the same buffers; on failure `why` says what it has no form
/// for.
mlir::FailureOr<mlir::func::FuncOp> splitComplex(mlir::func::FuncOp fn, std::string &why);

} // namespace millrace::lowering

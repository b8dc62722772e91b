// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorSizes.h - Tensors larger than any memory are an error --------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::lowering {

/// Sizes in bytes are 64-bit numbers in all that follows: fails, at its operation, on the first value of static shape
/// that takes 2^63 bytes or more. Smaller ones may be as large as they like as long as they are never in memory.
mlir::LogicalResult checkCountableSizes(mlir::ModuleOp module);

/// Fails on the first value of `root`, a function whose values are in memory, that takes more than a program can hold
/// (runtime::maxValueBytes).
mlir::LogicalResult checkHeldSizes(mlir::Operation *root);

} // namespace millrace::lowering

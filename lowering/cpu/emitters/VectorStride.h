// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorStride.h - Every n-th element as one vector ------------------===//
#pragma once

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace millrace::lowering {

/// Lane l is memref[at + l * stride], stride >= 1. For strides up to 4 these are whole vectors and shuffles: they read `stride` times
/// the lanes' number of elements, all of which the caller promises to exist.
mlir::Value loadStrided(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType type, mlir::Value memref, mlir::Value at,
                        int64_t stride);

} // namespace millrace::lowering

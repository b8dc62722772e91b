// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorStride.h - Every n-th element as one vector ------------------===//
#pragma once

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace millrace::lowering {

/// What a strided load may touch besides the lanes' elements.
enum class Beyond {
  Exists,  ///< `stride` times the lanes' number of elements exist: the simplest shuffles
  Unknown, ///< nothing before the first lane's element or behind the last one's
};

/// Lane l is memref[at + phase + l * stride], stride >= 1; a phase, between 0 and stride, if what `beyond` says begins at `at`. For short
/// strides (hasShuffles) these are whole vectors and shuffles. With `mask`, for short strides only, no element of a lane that is off is
/// touched, and that lane is one of `passThrough`, all of whose lanes are equal.
mlir::Value loadStrided(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType type, mlir::Value memref, mlir::Value at,
                        int64_t stride, Beyond beyond, mlir::Value mask = {}, mlir::Value passThrough = {},
                        int64_t phase = 0);

/// Lane l of vector k goes to memref[at + l * n + k], n = number of vectors: whole vectors are written, or the first `count` lanes of each.
void storeInterleaved(mlir::OpBuilder &b, mlir::Location loc, mlir::ArrayRef<mlir::Value> vectors, mlir::Value memref, mlir::Value at,
                      std::optional<int64_t> count = std::nullopt);

/// Whole vectors and shuffles are faster than single elements.
bool hasShuffles(mlir::VectorType type, int64_t stride);

} // namespace millrace::lowering

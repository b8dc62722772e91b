// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorStride.h - Strided loads and interleaving stores -------------===//
#pragma once

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace millrace::lowering {

/// The elements that a strided load may read besides those of the lanes.
enum class Beyond {
  Exists,  ///< `stride` times the number of lanes exist, which allows the simplest shuffles
  Unknown, ///< none before the first lane's element or after the last one's
};

/// Lane l is memref[at + phase + l * stride], stride >= 1; with a phase, 0 <= phase < stride, the elements of `beyond` start at `at`. For short
/// strides (hasShuffles) these are vector loads and shuffles. With `mask`, for short strides only, no element of a disabled lane is read, and that
/// lane is one of `passThrough`, all of whose lanes are equal.
mlir::Value loadStrided(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType type, mlir::Value memref, mlir::Value at,
                        int64_t stride, Beyond beyond, mlir::Value mask = {}, mlir::Value passThrough = {},
                        int64_t phase = 0);

/// Lane l of vector k is stored to memref[at + l * n + k], n = number of vectors: whole vectors, or the first `count` lanes of each.
void storeInterleaved(mlir::OpBuilder &b, mlir::Location loc, mlir::ArrayRef<mlir::Value> vectors, mlir::Value memref, mlir::Value at,
                      std::optional<int64_t> count = std::nullopt);

/// Returns true if vector loads and shuffles are faster than single elements.
bool hasShuffles(mlir::VectorType type, int64_t stride);

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ByteShuffles.h - Vectors that are joined and interleaved ------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace millrace::lowering {

/// Fact: the instructions that interleave bytes work on parts of 16 bytes of a vector.
inline constexpr int64_t kInterleavedBytes = 16;

/// Returns the elements of `low` followed by those of `high`.
mlir::Value joined(mlir::OpBuilder &b, mlir::Location loc, mlir::Value low, mlir::Value high);

/// Returns the elements of all vectors, a power of two of them, in their order.
mlir::Value joined(mlir::OpBuilder &b, mlir::Location loc, llvm::SmallVector<mlir::Value> vectors);

/// Returns as many vectors of bytes as `rows`, two or four: they have neighbouring bytes of one column in neighbouring rows. The columns of a part of 16
/// bytes stay in it: its first columns in the same part of the first vector, the next ones in that of the next vector.
llvm::SmallVector<mlir::Value> interleaved(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> rows);

} // namespace millrace::lowering

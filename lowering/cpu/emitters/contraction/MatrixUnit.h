// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixUnit.h - Emit AMX instructions -------------------------------===//
// AMX has eight tile registers of 16 rows of 64 bytes. They are operands by number, not values: LLVM keeps the order of the instructions.
#pragma once

#include "lowering/cpu/emitters/model/PointEvaluator.h"
#include "passes/fusion/MatrixUnitShapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace millrace::lowering::matrix {

/// Fact: rows of a tile register.
constexpr int64_t kRows = fusion::kMatrixUnitRows;
/// Fact: bytes of a row of a tile register.
constexpr int64_t kRowBytes = fusion::kMatrixUnitRowBits / 8;

/// Configures all registers with their full size, once per call of the kernel; `memory`: kRowBytes bytes for the configuration.
void configure(PointEvaluator &at, mlir::Value memory);

/// Releases the registers at the end of `shell`: the system would save them for sleeping threads.
void release(mlir::func::FuncOp shell);

enum class Move { Load, LoadOnce, Store };

/// Loads or stores register `number`: 16 rows, `stride` elements apart, the first at element `index`. Operands that are loaded once bypass the level
/// 1 cache.
void move(PointEvaluator &at, Move move, int64_t number, mlir::Value memory, mlir::Value index, int64_t stride);

void clear(PointEvaluator &at, int64_t number);

/// Adds the product of registers `rows` and `columns` to register `sums` by an AMX instruction, "tdpbf16ps" and the like.
void multiply(PointEvaluator &at, llvm::StringRef instruction, int64_t sums, int64_t rows, int64_t columns);

} // namespace millrace::lowering::matrix

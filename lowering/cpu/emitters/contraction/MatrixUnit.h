// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixUnit.h - The instructions of the matrix unit -----------------===//
// AMX: eight registers of 16 rows of 64 bytes. They have names here, and no values: LLVM keeps the order.
#pragma once

#include "lowering/cpu/emitters/model/PointEvaluator.h"
#include "passes/fusion/MatrixUnitShapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace millrace::lowering::matrix {

/// Fact: rows of a register.
constexpr int64_t kRows = fusion::kMatrixUnitRows;
/// Fact: bytes of a row of a register.
constexpr int64_t kRowBytes = fusion::kMatrixUnitRowBits / 8;

/// All registers whole. Once per call of the kernel; `memory`: kRowBytes bytes for the format.
void configure(PointEvaluator &at, mlir::Value memory);

/// At the end of `shell`: threads that sleep with its registers in use would have them saved.
void release(mlir::func::FuncOp shell);

enum class Move { Load, LoadOnce, Store };

/// Register `number` from or to 16 rows, `stride` elements apart, the first at element `index`. What is loaded once leaves the level 1 cache to others.
void move(PointEvaluator &at, Move move, int64_t number, mlir::Value memory, mlir::Value index, int64_t stride);

void clear(PointEvaluator &at, int64_t number);

/// Register `sums` += `rows` * `columns` by one of its instructions, "tdpbf16ps" and the like.
void multiply(PointEvaluator &at, llvm::StringRef instruction, int64_t sums, int64_t rows, int64_t columns);

} // namespace millrace::lowering::matrix

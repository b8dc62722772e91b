// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Work.h - Arithmetic and traffic of one operation -------------------===//
// Estimates for plans: what a device does between collectives.
#pragma once

#include "passes/autosharding/Machine.h"

#include "mlir/IR/Operation.h"

namespace millrace::autosharding {

/// How often a loop is assumed to run whose count is not looked for. Unit: turns. Source: XLA's auto-sharding (loop_iteration_count_estimate).
inline constexpr double kLoopTurns = 100;

/// Elements of the type take this many bytes in memory.
int64_t elementBytes(mlir::Type type);

/// Multiplications and additions of contractions, which are what takes arithmetic units' time. 0 of other operations.
double flopsOf(mlir::Operation *op);

/// The operation is part of its readers' or writers' kernels, or moves nothing at all.
bool movesNothing(mlir::Operation *op);

/// Bytes that the operation reads and writes, given those of its operands and results: of elementwise operations, which read in the kernel that
/// makes their operands, what they write, of those that look at a part of an operand, that part.
double bytesMoved(mlir::Operation *op, llvm::ArrayRef<double> operands, llvm::ArrayRef<double> results);

/// Seconds in which a device launches the operation's kernel, and does `flops` or moves `bytes` between memory and processor, whichever takes longer.
double secondsOfWork(const Machine &machine, mlir::Operation *op, double flops, double bytes);

} // namespace millrace::autosharding

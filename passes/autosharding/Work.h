// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Work.h - Arithmetic and traffic of one operation -------------------===//
// Estimates for plans of the work of a device between collectives.
#pragma once

#include "passes/autosharding/Machine.h"

#include "mlir/IR/Operation.h"

namespace millrace::autosharding {

/// The assumed number of iterations of a loop whose trip count is not analyzed. Unit: turns. Source: XLA's auto-sharding
/// (loop_iteration_count_estimate).
inline constexpr double kLoopTurns = 100;

/// Returns the bytes of an element of the type in memory.
int64_t elementBytes(mlir::Type type);

/// Returns the multiplications and additions of a contraction, which dominate the time of arithmetic units; 0 for other operations.
double flopsOf(mlir::Operation *op);

/// Returns true if the operation is a part of its readers' or writers' kernels, or moves no data.
bool movesNothing(mlir::Operation *op);

/// Returns the bytes that the operation reads and writes, given those of its operands and results. Elementwise operations, which are fused with the
/// operation of their operands, count what they write; operations that read a part of an operand count that part.
double bytesMoved(mlir::Operation *op, llvm::ArrayRef<double> operands, llvm::ArrayRef<double> results);

/// Returns the seconds in which a device launches the operation's kernel, and does `flops` or moves `bytes` between memory and processor, whichever
/// takes longer. Elementwise operations and slices have no kernels of their own unless a collective or the function's end reads a slice.
double secondsOfWork(const Machine &machine, mlir::Operation *op, double flops, double bytes);

} // namespace millrace::autosharding

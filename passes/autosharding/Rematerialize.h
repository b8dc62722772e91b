// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rematerialize.h - Computes values again instead of keeping them ----===//
// Automatic sharding compares the program as it is, split so that it fits into a device's memory, with the program that computes some values again.
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <utility>
#include <vector>

namespace millrace::autosharding {

/// What is known of the compiled program. Its functions are asked about the operations and values that the function has had from the start.
struct CompiledOrder {
  llvm::function_ref<bool(mlir::Value)> isStored;        ///< a step leaves the value in memory; others are computed where they are read, or share memory
  llvm::function_ref<int64_t(mlir::Value)> sizeOf;       ///< the bytes that a value would take on a device with memory of its own
  llvm::function_ref<int64_t(mlir::Operation *)> timeOf; ///< when the operation runs; -1 if it disappears
  int64_t peak = 0;                                      ///< bytes at the worst time
  int64_t kept = 0;                                      ///< bytes besides those of arguments that are alive all the time
};

/// What rematerialization is told of a program: both functions are asked about the operations and values that the function has had from the start.
struct RematerializationCosts {
  llvm::function_ref<int64_t(mlir::Value)> bytesOf;        ///< that a value takes on a device; 0 of a value that is no buffer
  llvm::function_ref<double(mlir::Operation *)> secondsOf; ///< of the operation on a device
  /// If set, operations are put into the order in which the compiler runs them, and values live as there; else every value lives in the body's order.
  const CompiledOrder *compiled = nullptr;
};

struct Rematerialization {
  int64_t values = 0;     ///< that are computed again
  int64_t operations = 0; ///< that were copied for them
  double seconds = 0;     ///< that the copies take
  int64_t before = 0, after = 0; ///< bytes of values at the worst time, in the order of the function's body
  std::vector<std::pair<mlir::Operation *, mlir::Operation *>> copies; ///< operations that were added, and of which ones they are copies
};

/// Copies operations of the function's body in front of late readers of their results, until values take at most `limit` bytes at any time or no
/// value is left whose copy would free memory at the worst time. The value with the fewest seconds per byte goes first. A copy reads values that are
/// alive where it stands, through an optimization_barrier, so that no simplification merges it with the original.
/// What the compiled program does not store is copied, too, rather than read, because reading it later would give it memory. A value that is read late
/// by an operation whose result is not stored is read where that result is.
/// Values inside regions, of operations with effects, and of operations with several results are kept.
Rematerialization rematerialize(mlir::func::FuncOp function, int64_t limit, const RematerializationCosts &costs);

} // namespace millrace::autosharding

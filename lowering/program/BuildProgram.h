// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BuildProgram.h - A module of kernel calls to a runtime Program -----===//
#pragma once

#include "runtime/program/KernelEntry.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <utility>
#include <vector>

namespace millrace::lowering {

/// What a step that calls a kernel has to know of its machine code.
struct KernelSummary {
  uint32_t index = 0; ///< into Program::kernels
  int64_t rangeEnd = 1, granularity = 1, scratchBytes = 0;
  double picosPerIteration = 0;
  runtime::RowRange rows;
  bool takesRows = false;
  bool isForFewRows = false; ///< of two kernels for few and for many rows (OpenRows.h)
  /// {operand, result}: the kernel updates the operand's buffer and stores the result there.
  std::vector<std::pair<unsigned, unsigned>> inPlace;
  /// {operand, result}: the kernel may use one buffer for both (PointwisePairs.h).
  std::vector<std::pair<unsigned, unsigned>> pointwise;
  std::optional<uint64_t> part; ///< offset in the operand's bytes of which the result is a range (Parts.h)
  std::vector<uint64_t> joined; ///< offsets of the operands' bytes in the result; empty if it is no concatenation (Parts.h)
};

/// Makes `step` call the kernel that `summary` describes.
void setKernel(runtime::KernelStep &step, const KernelSummary &summary);

/// Describes the arguments and results of `entry` and which argument's memory each result takes. Emits a diagnostic on failure.
mlir::LogicalResult describeSignature(mlir::func::FuncOp entry, runtime::Program &program);

/// Translates the functions of `module` that are not kernels (after xla-fuse-kernels: calls of kernels, control flow, collectives, custom calls,
/// constants, renames) to functions of `program`, and plans their memory. `kernels` maps the names of kernel functions. The entry function is
/// `entry`. Temporaries that exceed `nearBytes`, the size of the largest cache, are placed in free memory of results; if they fit, they stay in one
/// arena, so that the cache holds no second copy. Emits a diagnostic at the operation on failure.
mlir::LogicalResult buildProgram(mlir::ModuleOp module, llvm::StringRef entry, const llvm::StringMap<KernelSummary> &kernels, uint64_t nearBytes,
                                 runtime::Program &program);

} // namespace millrace::lowering

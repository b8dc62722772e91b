// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BuildProgram.h - A module of kernel calls to a runtime Program -----===//
#pragma once

#include "runtime/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <utility>
#include <vector>

namespace millrace::lowering {

/// What the step that calls a kernel needs to know of its machine code.
struct KernelSummary {
  uint32_t index = 0; ///< into Program::kernels
  int64_t rangeEnd = 1, granularity = 1, scratchBytes = 0;
  double picosPerIteration = 0;
  /// {operand, result}: the kernel updates the operand's buffer and leaves the result there.
  std::vector<std::pair<unsigned, unsigned>> inPlace;
  /// {operand, result}: the kernel may be given one buffer for both (PointwisePairs.h).
  std::vector<std::pair<unsigned, unsigned>> pointwise;
  std::optional<uint64_t> part; ///< the result is the operand's bytes from here on (Parts.h)
  std::vector<uint64_t> joined; ///< the result is the operands' bytes, each from here on; empty: it is not (Parts.h)
};

/// Lets `step` call the kernel that `summary` describes.
void setKernel(runtime::KernelStep &step, const KernelSummary &summary);

/// Arguments and results of `entry` with what its attributes say, and which argument's memory each result has. Emits a diagnostic on failure.
mlir::LogicalResult describeSignature(mlir::func::FuncOp entry, runtime::Program &program);

/// Translates the functions of `module` that are not kernels (after xla-fuse-kernels: calls of kernels, control flow,
/// collectives, custom calls, constants, renames) to the functions of `program`, with memory planned. `kernels` maps the
/// names of kernel functions. The entry function is `entry`. Temporaries of more than `nearBytes`, which the largest cache holds, lie in the memory of
/// results as far as that is free; fewer stay together, so that the cache does not hold them twice. Emits a diagnostic at the operation on failure.
mlir::LogicalResult buildProgram(mlir::ModuleOp module, llvm::StringRef entry, const llvm::StringMap<KernelSummary> &kernels, uint64_t nearBytes,
                                 runtime::Program &program);

} // namespace millrace::lowering

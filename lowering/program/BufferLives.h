// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BufferLives.h - When the temporaries of a program take memory -------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::lowering {

/// Memory in the arena at the times begin <= t < end.
struct LiveBuffer {
  mlir::Value value; ///< the first of the values that share the memory
  uint64_t bytes = 0;
  int64_t begin = 0, end = 0;
};

struct BufferLives {
  std::vector<LiveBuffer> buffers;
  std::vector<mlir::Value> elsewhere; ///< values that steps compute in memory of results or arguments
  int64_t times = 0; ///< the number of times: one for each step, with the steps of loops, branches and called functions in the place of these
  llvm::DenseMap<mlir::Operation *, int64_t> timeOf; ///< the first time of each step
};

/// Returns the lives of the temporaries of a function whose operations are calls of kernels and other steps, in the order of its steps
/// (xla-order-steps). Memory of arguments and results is none of them. Nothing if sizes are dynamic, or if a function calls itself.
std::optional<BufferLives> livesOfBuffers(mlir::ModuleOp module, mlir::func::FuncOp function);

} // namespace millrace::lowering

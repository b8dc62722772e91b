// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - The memory that a compiled program takes -----------------===//
// Which values of a program get memory, and when, is decided by the compiler's stops behind partitioning: most values are computed within the kernels
// of their readers, others share memory, and steps run in the order that needs the least. Whoever plans asks for the outcome (MemoryOf).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millrace::autosharding {

/// The memory of a program, besides that of its arguments.
struct CompiledMemory {
  /// Memory at the times begin <= t < end.
  struct Buffer {
    mlir::Value value; ///< the value of the given program that it holds, or from whose operation it comes; null if that is unknown
    int64_t bytes = 0;
    int64_t begin = 0, end = 0;
  };
  std::vector<Buffer> buffers;
  /// Values of the given program that steps compute in memory of results or arguments. Values without this and without a buffer are computed within the
  /// kernels of their readers, or share the memory of what they are computed from.
  std::vector<mlir::Value> elsewhere;
  int64_t times = 0;
  std::vector<unsigned> ownResults; ///< results of the entry function that take no argument's memory
  int64_t constants = 0;            ///< bytes
  llvm::DenseMap<mlir::Operation *, int64_t> timeOf; ///< when operations of the given program are computed; without those that disappear
};

/// Returns the memory of the module's entry function as the compiler will plan it, or nothing and the reason. The module is not changed. `devices`: 1
/// of the program of one device; of a program of all devices, their number, because the compiler treats the largest values otherwise.
using MemoryOf = std::function<std::optional<CompiledMemory>(mlir::ModuleOp module, int64_t devices, std::string &whyNot)>;

/// Returns the bytes that are live at each time: those of all buffers and constants, without arguments and results.
std::vector<int64_t> bytesByTime(const CompiledMemory &memory);

} // namespace millrace::autosharding

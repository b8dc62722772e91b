// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Partition.h - From a global program to the program of one device ---===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

namespace millrace::spmd {

/// True if some value of the module says how it is sharded, and there is something to it.
bool hasShardings(mlir::ModuleOp module);

/// Turns the module into the program of each of its `mhlo.num_partitions` devices: inlines calls, then the pass
/// xla-spmd-partition. Modules for one device or without shardings stay as they are. Errors are reported at the operation
/// that cannot be partitioned.
llvm::LogicalResult partition(mlir::ModuleOp module);

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Partition.h - From a global program to the program of one device ---===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::spmd {

/// True if some value of the module says how it is sharded, and there is something to it.
bool hasShardings(mlir::ModuleOp module);

/// Gives every value the sharding that follows from what is annotated: inlines calls and propagates (passes/sharding). The
/// arguments of the program keep theirs: without an annotation they are whole. Modules for one device or without shardings stay
/// as they are, and so does one with shapes that are not static. `explain` is told for every tensor that is split why.
llvm::LogicalResult propagate(mlir::ModuleOp module, llvm::raw_ostream *explain = nullptr);

/// Turns the module into the program of each of its `mhlo.num_partitions` devices; propagates first, if that has not been
/// done. Modules for one device or without shardings stay as they are. Errors are reported at the operation that cannot be
/// partitioned.
/// `onInspect` gets the backend_config of every custom call @InspectSharding (jax.debug.inspect_array_sharding) and the
/// `mhlo.sharding` string of its operand; the calls are gone afterwards. Without one they are identities.
llvm::LogicalResult partition(mlir::ModuleOp module,
                              llvm::function_ref<llvm::LogicalResult(mlir::Operation *call, llvm::StringRef config,
                                                                     llvm::StringRef sharding)> onInspect = nullptr);

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sizes.h - Programs whose bytes can be counted -----------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::autosharding {

/// Reports an error, at the operation with the largest value, if the values of the module have more bytes together than sums of them and of what
/// collectives move can count (2^62). `what` is what cannot be done: "automatic sharding".
llvm::LogicalResult checkSizes(mlir::ModuleOp module, llvm::StringRef what);

} // namespace millrace::autosharding

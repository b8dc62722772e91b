// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KeepDimensions.h - Reshapes that hide what is split ----------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::spmd {

/// A dimension into which two were merged can be sharded along the first one of them only. PyTorch merges dimensions for every batched matrix product
/// (`bmm`) and flattens for views; this rewrites both without the merge, before shardings propagate. Operations with a sharding of their own are
/// kept.
void keepDimensions(mlir::ModuleOp module);

} // namespace millrace::spmd

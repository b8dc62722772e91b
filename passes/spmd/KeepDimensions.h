// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KeepDimensions.h - Reshapes that hide what is split ----------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::spmd {

/// A dimension that two were merged into can be split along the first one of them only. PyTorch merges on its way to every product of
/// batches (`bmm`) and flattens for views; both are written without here, before shardings propagate. What has a sharding of its own stays.
void keepDimensions(mlir::ModuleOp module);

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Generate.h - Compute tensors from element positions ----------------===//
#pragma once

#include "lowering/linalg/Loops.h"

namespace millrace::lowering {

/// Emits a linalg.generic over `type` (with sizes `sizes`) whose element at a position is at(l, position), a storage value.
mlir::Value generateElements(LoopBuilder &l, mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                             llvm::function_ref<mlir::Value(LoopBuilder &, mlir::ValueRange)> at);

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Unpacking.h - Operands that contractions unpack themselves ----------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace millrace::fusion {

/// The operations of a kernel that compute an operand of its contraction.
using Unpacking = llvm::SmallPtrSet<mlir::Operation *, 16>;

/// Returns the operations that compute operands of `contraction` from codes, at most half as many bytes as the operands have: it does so while it packs
/// its panels, and no matrix is in memory. Reshapes between them are among them.
Unpacking unpackingOf(mlir::Operation *contraction);

} // namespace millrace::fusion

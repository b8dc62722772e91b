// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopOrder.h - Innermost loops over neighbours in memory ------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace millrace::lowering {

/// The order in which `op`'s loops should nest, outermost first: the given order, except that a loop along which every
/// operand is read and written element after element (or not at all) moves innermost. Loops of reductions keep their order
/// among each other, so that sums round as before; the first loop stays first if it is parallel, so that calls can share
/// its range.
llvm::SmallVector<unsigned> chooseLoopOrder(mlir::linalg::LinalgOp op);

/// Applies chooseLoopOrder to every linalg.generic in `root`.
void orderLoops(mlir::Operation *root);

} // namespace millrace::lowering

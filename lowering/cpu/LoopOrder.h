// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopOrder.h - Order loops for contiguous innermost accesses --------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace millrace::lowering {

/// Returns the order of `op`'s loops, outermost first: the given order, except that a loop along which every operand is accessed contiguously (or not
/// at all) becomes the innermost. Reduction loops keep their relative order, so that sums round as before; the first loop stays first if it is
/// parallel, so that calls can share its range.
llvm::SmallVector<unsigned> chooseLoopOrder(mlir::linalg::LinalgOp op);

/// Applies chooseLoopOrder to every linalg.generic in `root`.
void orderLoops(mlir::Operation *root);

} // namespace millrace::lowering

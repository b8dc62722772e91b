// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Accumulate.h - The loop nest of reduce and reduce_window -----------===//
#pragma once

#include "lowering/linalg/Loops.h"

namespace millrace::lowering {

/// Folds `inputs` into `inits` (storage tensors of `accElements`, one per result) by the computation of `reducer`. `maps` and `iterators` are those
/// of the linalg.generic. Its operands are the inputs, one per result, then inputs that only define the sizes of loops, then the inits. The results
/// have elements of type `regionElements`. Fails if the computation cannot be emitted.
struct Accumulation {
  Reducer reducer;
  mlir::Region &region;
  llvm::ArrayRef<mlir::Type> inputElements, accElements, regionElements;

  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emit(LoopBuilder &l, mlir::ValueRange inputs, mlir::ValueRange inits,
                                                       llvm::ArrayRef<mlir::AffineMap> maps,
                                                       llvm::ArrayRef<mlir::utils::IteratorType> iterators) const;
};

} // namespace millrace::lowering

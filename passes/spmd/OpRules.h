// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpRules.h - Which dimensions of an operation can be split together -===//
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace millrace::spmd {

/// Dimensions with the same factor are split the same way in all operands and results, and then every device computes
/// its tile of the result from its tiles of the operands. Dimensions without a factor (-1) must be whole.
struct OpRule {
  llvm::SmallVector<llvm::SmallVector<int>> operands, results;
  int numFactors = 0;
  /// Factors that no result has: devices then hold summands of the result.
  llvm::SmallVector<int> reduced;

  bool isReduced(int factor) const { return llvm::is_contained(reduced, factor); }
};

/// All dimensions whole if nothing is known about the operation. Operands and results are ranked tensors or have no
/// dimensions at all (tokens).
OpRule ruleOf(mlir::Operation *op);

/// Attributes of `local`, a copy of an operation with local types, that name sizes of split dimensions.
void localizeAttributes(mlir::Operation *local);

} // namespace millrace::spmd

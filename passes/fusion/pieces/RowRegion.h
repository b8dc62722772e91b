// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowRegion.h - Find operations that work row by row ------------------===//
// Around a contraction with a large result: its users, and operations that lead to values as large, each of which computes a row from the same row of
// its operands, or combines rows. The sharding rules say which dimensions correspond.
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace millrace::fusion {

/// Where a value's rows are: along dimension `dim`, `minor` consecutive elements of which belong to one row.
struct RowDim {
  int64_t dim = 0, minor = 1;
  bool operator==(const RowDim &) const = default;
};

struct RowRegion {
  mlir::Operation *seed = nullptr;
  int64_t rows = 0;
  llvm::SetVector<mlir::Operation *> ops;            ///< in the order of their block
  llvm::SmallPtrSet<mlir::Operation *, 16> dependent; ///< those that need the seed; others stay for their other readers
  llvm::DenseMap<mlir::Value, RowDim> rowDims;       ///< of operands and results that have rows
  llvm::SmallVector<mlir::Value> stacked;            ///< results with rows that others read
  llvm::SmallVector<mlir::Value> combined;           ///< results without rows: what the rows give is combined
};

/// The region around `seed`, whose left operand's dimension `lhsDim` counts the rows; null, and one phrase in `why`, if there is none.
/// A value of `minBytes` or more is large: none is read from outside. The operations are not changed, except that indices of gathers and
/// scatters that count rows become batching dimensions.
std::optional<RowRegion> findRowRegion(stablehlo::DotGeneralOp seed, int64_t lhsDim, int64_t minBytes, llvm::StringRef &why);

/// The operation that adds up what rows give, of a contraction or reduction whose result has no rows; null if parts may not be combined.
mlir::Operation *combinerOfRows(mlir::Operation *op);

} // namespace millrace::fusion

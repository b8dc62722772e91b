// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CutDimensions.h - Dimensions that shardings may reach ---------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace millrace::spmd {

/// Which dimensions of a program's values may get cut once shardings propagate: those that sharding rules, loops and branches tie to an
/// annotated one. Directions, priorities and conflicts are left out: some of them stay whole.
class CutDimensions {
public:
  explicit CutDimensions(mlir::ModuleOp module);

  bool mayBeCut(mlir::Value value, int64_t dim) { return isCut[rootOf(value, dim)]; }
  /// A reshape takes the dimension apart so that a part which may be cut begins behind `before` elements of the parts in front of it.
  bool mayBeCutBehind(mlir::Value value, int64_t dim, int64_t before);
  /// Dimensions of the operation's values, as far as its rule says that they are cut together. Of a merged dimension that is the first of
  /// its parts.
  void tie(mlir::Operation *op);
  /// Two values of one rank whose dimensions are the same.
  void tie(mlir::Value a, mlir::Value b);

private:
  int rootOf(mlir::Value value, int64_t dim);
  int rootOf(int node);
  void tie(int a, int b);
  void mark(mlir::Value value, mlir::Attribute sharding);
  void markParts(mlir::Operation *reshape);

  llvm::DenseMap<mlir::Value, int> firstNode; ///< of dimension 0; the others follow
  std::vector<int> parents;
  std::vector<bool> isCut; ///< of roots
  llvm::DenseMap<int, llvm::SmallVector<int64_t, 1>> behind; ///< of roots: see mayBeCutBehind
};

} // namespace millrace::spmd

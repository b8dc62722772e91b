// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LayoutPlan.h - Which values of a block have which order ------------===//
#pragma once

#include "passes/layout/Layout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace millrace::layout {

/// Which dimension orders an operation accepts for its operands and results.
enum class Freedom {
  None,        ///< row-major only, which holds for all operations that are not listed here
  Tied,        ///< any order that all its operands and results share
  Source,      ///< any order for the result: broadcast, iota, splat constant
  Reduction,   ///< any order for the operands, which determines that of the result
  Transpose,   ///< any order for operand and result
  Convolution, ///< any order for each of the two operands and the result
};

Freedom freedomOf(mlir::Operation *op);
/// Returns true for a splat constant, which costs nothing in any order.
bool isNumber(mlir::Value value);
/// Returns the operands and results of a Tied operation or a Reduction that share one order, splat constants excepted.
llvm::SmallVector<mlir::Value> tiedValues(mlir::Operation *op);

/// The dimension orders of one block's values. Values that Tied operations connect share one order: of the row-major order and those that
/// convolutions of the block prefer, the one with the fewest bytes to transpose where a neighbouring operation has another.
class LayoutPlan {
public:
  explicit LayoutPlan(mlir::Block &block);
  /// Returns true if some value gets another order.
  bool hasMoves() const { return !preferred.empty(); }
  Layout layoutOf(mlir::Value value) const;
  ConvolutionLayouts layoutsOf(stablehlo::ConvolutionOp op) const;

private:
  void collectPreferences(mlir::Block &block);
  void tie(mlir::Block &block);
  void choose(mlir::Block &block);

  llvm::DenseMap<mlir::Operation *, ConvolutionLayouts> preferred;
  llvm::EquivalenceClasses<void *> groups;
  llvm::DenseMap<void *, Layout> chosen; ///< by the leader of a group; absent: row-major
};

} // namespace millrace::layout

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LayoutPlan.h - Which values of a block have which order ------------===//
#pragma once

#include "passes/layout/Layout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace millrace::layout {

/// How an operation looks at the order of its operands and results.
enum class Freedom {
  None,        ///< row-major, like everything that is not listed here
  Tied,        ///< any, the same for all tensors of the operation
  Source,      ///< any for the result: broadcasts, iota, constants of one number
  Reduction,   ///< any for the operands; the result's follows
  Transpose,   ///< any on both sides
  Convolution, ///< any for each of the three tensors
};

Freedom freedomOf(mlir::Operation *op);
/// A constant of one number: it costs nothing in any order.
bool isNumber(mlir::Value value);
/// The operands and results of a Tied operation or a Reduction that have one order, without numbers.
llvm::SmallVector<mlir::Value> tiedValues(mlir::Operation *op);

/// The orders of one block's values. Values that Tied operations connect have one order: of those that convolutions of the block
/// ask for and the row-major one, the order with the fewest bytes to transpose at operations that want another.
class LayoutPlan {
public:
  explicit LayoutPlan(mlir::Block &block);
  /// False if everything stays as it is.
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

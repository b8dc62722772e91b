// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contractions.h - One linalg.generic for every sum of products ------===//
// dot_general, einsum and convolution differ in their maps only.
#pragma once

#include "lowering/linalg/Loops.h"

namespace millrace::lowering {

/// sum over the reduction iterators of the product of the operands.
struct Contraction {
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> elements; ///< stablehlo element types of the operands
  llvm::SmallVector<mlir::Type> roundTo;  ///< element types the operands are rounded to first; null: none
  llvm::SmallVector<mlir::AffineMap> maps; ///< of the operands, then of the result
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< of the result
  mlir::Type accumulator;                      ///< element type of the result
};

/// The result tensor, of element type `c.accumulator`.
mlir::Value emitContraction(LoopBuilder &l, const Contraction &c);

/// The element type in which products of `lhs` and `rhs` elements are summed for a result of element type `result`.
mlir::Type contractionAccumulator(mlir::Type lhs, mlir::Type rhs, mlir::Type result);

} // namespace millrace::lowering

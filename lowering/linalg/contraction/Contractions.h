// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contractions.h - Emit contractions as linalg.generic ---------------===//
// dot_general, einsum and convolution differ in their maps only.
#pragma once

#include "lowering/linalg/Loops.h"

namespace millrace::lowering {

/// The sum over the reduction iterators of the product of the operands.
struct Contraction {
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> elements; ///< stablehlo element types of the operands
  llvm::SmallVector<mlir::Type> roundTo;  ///< element types to which the operands are rounded first; null for none
  llvm::SmallVector<mlir::AffineMap> maps; ///< maps of the operands, then of the result
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< sizes of the result
  mlir::Type accumulator;                      ///< element type of the result
};

/// Emits the contraction and returns the result, of element type `c.accumulator`.
mlir::Value emitContraction(LoopBuilder &l, const Contraction &c);

/// Returns the element type in which products of `lhs` and `rhs` elements are accumulated for a result of element type `result`.
mlir::Type contractionAccumulator(mlir::Type lhs, mlir::Type rhs, mlir::Type result);

} // namespace millrace::lowering

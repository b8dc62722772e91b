// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyPatterns.h - Exact algebraic rewrites, by op family --------===//
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace millrace::simplify {

/// Identities of arithmetic, comparisons and conversions.
void populateElementwiseSimplifications(mlir::RewritePatternSet &patterns);
/// Counting in fewer bits.
void populateIndexSimplifications(mlir::RewritePatternSet &patterns);
/// Composition of broadcasts, reshapes, transposes, slices, pads, concatenates, gathers.
void populateDataMovementSimplifications(mlir::RewritePatternSet &patterns);
/// Transposes absorbed by reductions and contractions.
void populateContractionSimplifications(mlir::RewritePatternSet &patterns);

/// Sums of diagonals as slices.
void populateDiagonalSimplifications(mlir::RewritePatternSet &patterns);

/// Scatters of batches.
void populateScatterSimplifications(mlir::RewritePatternSet &patterns);

/// All of the above and the canonical forms of the dialect: what stablehlo-aggressive-simplification does.
void populateSimplifications(mlir::RewritePatternSet &patterns);

struct FoldLimits {
  int64_t elements;             ///< of the largest operand or result
  bool floats;                  ///< fold floats
  bool ignoreUndeclaredEffects; ///< fold operations that do not say whether they have side effects
};
/// Evaluation of operations on constants: what stablehlo-aggressive-folder does.
void populateFolding(mlir::RewritePatternSet &patterns, FoldLimits limits, mlir::PatternBenefit benefit = 1);

} // namespace millrace::simplify

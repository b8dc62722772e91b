// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyPatterns.h - Exact algebraic rewrites, by op family --------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

#include <optional>

namespace millrace::simplify {

//===-- Groups of stablehlo-aggressive-simplification ----------------------===//

/// Identities of arithmetic, comparisons and conversions.
void populateElementwiseSimplifications(mlir::RewritePatternSet &patterns);
/// Composition of broadcasts, reshapes, transposes, slices, pads, concatenations, gathers.
void populateDataMovementSimplifications(mlir::RewritePatternSet &patterns);
/// All of the above and the canonical forms of the dialect: what stablehlo-aggressive-simplification does.
void populateSimplifications(mlir::RewritePatternSet &patterns);

/// Applies the patterns until nothing changes, producers first: most rewrites look at the producer of an operand. Not reaching a fixed point is no
/// failure: it only leaves something to simplify.
void simplifyGreedily(mlir::Operation *root, const mlir::FrozenRewritePatternSet &patterns);

//===-- Further groups of xla-simplify-for-kernels -------------------------===//

/// Powers by roots.
void populatePowerSimplifications(mlir::RewritePatternSet &patterns);
/// Index arithmetic in integers of fewer bits.
void populateIndexSimplifications(mlir::RewritePatternSet &patterns);
/// One shape for operations that differ by unit dimensions, divided dimensions or components only.
void populateUnitDimensionSimplifications(mlir::RewritePatternSet &patterns);
/// Transposes, reshapes, broadcasts and scalars absorbed by reductions, convolutions and contractions.
void populateContractionSimplifications(mlir::RewritePatternSet &patterns);
/// Sums of diagonals as slices.
void populateDiagonalSimplifications(mlir::RewritePatternSet &patterns);
/// Scatters of batches and of windows.
void populateScatterSimplifications(mlir::RewritePatternSet &patterns);

//===-- What several groups ask --------------------------------------------===//

/// True if `op` takes one position of a last dimension that has only a few.
bool isComponent(stablehlo::SliceOp op);

struct FoldLimits {
  int64_t elements;             ///< of the largest operand or result
  bool floats;                  ///< fold floats
  bool ignoreUndeclaredEffects; ///< fold operations that do not say whether they have side effects
};
/// Evaluation of operations on constants: what stablehlo-aggressive-folder does.
void populateFolding(mlir::RewritePatternSet &patterns, FoldLimits limits, mlir::PatternBenefit benefit = 1);

} // namespace millrace::simplify

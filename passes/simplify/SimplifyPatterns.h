// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyPatterns.h - Exact algebraic rewrites, by op family --------===//
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace millrace::simplify {

/// Identities of arithmetic, comparisons and conversions.
void populateElementwiseSimplifications(mlir::RewritePatternSet &patterns);
/// Composition of broadcasts, reshapes, transposes, slices, pads, concatenates, gathers.
void populateDataMovementSimplifications(mlir::RewritePatternSet &patterns);
/// Transposes absorbed by reductions and contractions.
void populateContractionSimplifications(mlir::RewritePatternSet &patterns);

} // namespace millrace::simplify

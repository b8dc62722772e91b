// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamicCalls.h - Custom calls of JAX for dynamic shapes ------------===//
// JAX's shape-polymorphic programs call what StableHLO has no dynamic operation for:
//   stablehlo.dynamic_top_k(operand, k)
//   stablehlo.dynamic_approx_top_k(..., k), as ApproxTopK with k as an operand instead of in its configuration
//   stablehlo.dynamic_rng_bit_generator(state, shape) {rng_algorithm}
//   stablehlo.dynamic_reduce_window(inputs, init_values, window_dimensions, window_strides, base_dilations,
//                                   window_dilations, padding) {called_computations = [@body]}
#pragma once

#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/PatternMatch.h"

namespace millrace::simplify {

/// The shapes of the results of such a call (not of dynamic_approx_top_k, which names them itself), as far as its operands
/// are constants. Empty if it is another call or nothing is known.
mlir::SmallVector<mlir::SmallVector<int64_t>> dynamicCallShapes(stablehlo::CustomCallOp call);

/// Calls whose amounts are constants and whose results are static -> static operations.
void populateDynamicCallPatterns(mlir::RewritePatternSet &patterns);

} // namespace millrace::simplify

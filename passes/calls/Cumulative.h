// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cumulative.h - Recognize cumulative operations ---------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <optional>

namespace millrace::calls {

/// A reduce_window whose result[i] covers x[0..i], or x[i..] if `reverse`, along `dimension`, as JAX writes cumsum, cummax, ...
struct Cumulative {
  int64_t dimension;
  bool reverse;
  mlir::Operation *reducer; ///< add, multiply, minimum, maximum, and, or: the body's single operation; null for another body
};

/// Returns nothing for other windows, and where combining the initial value once more would change a result.
std::optional<Cumulative> cumulativeOf(stablehlo::ReduceWindowOp op);

/// Replaces a cumulative operation with static shape and a body of several operations by one along another dimension than the last, if faster.
void scanColumns(stablehlo::ReduceWindowOp op, const Cumulative &cumulative);

} // namespace millrace::calls

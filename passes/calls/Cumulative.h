// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cumulative.h - Windows that cover everything before an element -----===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <optional>

namespace millrace::calls {

/// A reduce_window whose result[i] covers x[0..i], or x[i..] if `reverse`, along `dimension`, as JAX writes cumsum, cummax, ...
struct Cumulative {
  int64_t dimension;
  bool reverse;
  mlir::Operation *reducer; ///< add, multiply, minimum, maximum, and, or: the one operation of the body; null: some other body
};

/// Nothing for other windows, and where combining one more copy of the init value would change a result.
std::optional<Cumulative> cumulativeOf(stablehlo::ReduceWindowOp op);

/// Of static shape and a body of several operations: replaced by one along a dimension that has vectors behind it, if that is faster.
void scanColumns(stablehlo::ReduceWindowOp op, const Cumulative &cumulative);

} // namespace millrace::calls

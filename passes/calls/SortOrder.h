// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SortOrder.h - Recognize the order that a comparator defines --------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <optional>

namespace millrace::calls {

/// One key of an order: the elements of one operand of the sort.
struct OrderKey {
  unsigned operand;
  bool descending;
  /// True for floats ordered from -NaN over -0 and 0 to NaN. Otherwise zeros are equal, and so are NaNs, which come last (first, if descending).
  /// Comparators for which NaNs are unordered are treated as the second kind, since they leave the position of NaNs open.
  bool total;
};

/// Returns the keys of a comparator, the most significant one first, or nothing for another computation. Recognized are comparisons of two elements,
/// unchanged or with zeros and NaNs made equal (JAX), or with a clause that orders NaNs last (PyTorch), and lexicographic orders of several of
/// these.
std::optional<llvm::SmallVector<OrderKey>> orderOf(mlir::Block &comparator);

/// Returns true if the runtime can order elements of this type by their bits.
bool hasOrderedBits(mlir::Type element);

/// Returns true if `value` is 0, 1, 2, ... along `dimension`: an iota, or the constant into which a short one is folded.
bool countsUp(mlir::Value value, int64_t dimension);

} // namespace millrace::calls

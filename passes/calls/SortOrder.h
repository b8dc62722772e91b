// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SortOrder.h - What the comparator of a sort asks for ---------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <optional>

namespace millrace::calls {

/// One key of an order: the elements of one operand of the sort.
struct OrderKey {
  unsigned operand;
  bool descending;
  /// Floats from -NaN over -0 and 0 to NaN. Otherwise zeros are equal, and so are NaNs, which come after everything (before,
  /// if descending). Comparators that call NaNs unordered are taken for the second kind: they leave their place open.
  bool total;
};

/// The keys of a comparator, the most significant one first, or nothing if it is another computation. Known are comparisons of two
/// elements, as they are or with zeros and NaNs made equal (JAX), or with a clause that puts NaNs last (PyTorch); and the
/// lexicographic orders of several of these.
std::optional<llvm::SmallVector<OrderKey>> orderOf(mlir::Block &comparator);

/// The runtime can order elements of this type by their bits.
bool hasOrderedBits(mlir::Type element);

/// 0, 1, 2, ... along `dimension`, as the operation or (short ones are folded) as a constant.
bool countsUp(mlir::Value value, int64_t dimension);

} // namespace millrace::calls

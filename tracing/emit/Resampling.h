// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resampling.h - Weighted sums of a few elements along a dim ----------===//
// Interpolation, adaptive average pooling, padding by reflection and their gradients are all the same operation: a sparse matrix, known when the
// program is emitted, is applied to one dim after the other.
#pragma once
#include "tracing/emit/Families.h"

namespace millrace::tracing {

struct Tap {
  int64_t index;
  double weight;
};
/// Per position of the result the weighted elements that it is the sum of: the rows of the sparse matrix.
using Taps = std::vector<std::vector<Tap>>;

/// Applies the matrix to `dim` of x, in the type of x.
Val resample(Emitter &e, const Val &x, int64_t dim, const Taps &taps);
/// Returns the transposed matrix, which computes the gradient; `count` is the size of the operand's dim.
Taps transposed(const Taps &taps, int64_t count);

} // namespace millrace::tracing

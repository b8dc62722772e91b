// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resampling.h - Weighted sums of a few elements along a dim ----------===//
// Interpolation, adaptive average pooling, padding by reflection and the gradients of all these are the same thing: a
// sparse matrix, known when the program is emitted, applied to one dim after the other.
#pragma once
#include "tracing/emit/Families.h"

namespace millrace::tracing {

struct Tap {
  int64_t index;
  double weight;
};
/// Per position of the result the elements it is made of.
using Taps = std::vector<std::vector<Tap>>;

/// x with the matrix applied to `dim`: in x's own type.
Val resample(Emitter &e, const Val &x, int64_t dim, const Taps &taps);
/// The matrix of the gradient; `count` elements went in.
Taps transposed(const Taps &taps, int64_t count);

} // namespace millrace::tracing

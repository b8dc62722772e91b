// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Order.h - Sorting, cumulative operations and counting ---------------===//
#pragma once
#include "tracing/emit/Emit.h"

namespace millrace::tracing::order {

using Vals = std::vector<Val>;

/// Converts a dim that may be negative to one that counts from 0; a tensor of rank 0 counts as one of rank 1.
int64_t dimOf(int64_t dim, int64_t rank);
/// Returns the sorted values and their positions (i64) along `dim`. The sort is stable, and NaN is the greatest value.
Vals sorted(Emitter &e, const Val &x, int64_t dim, bool descending);
/// Returns result[i] = combine(x[0], ..., x[i]) along `dim`; `init` is the neutral element.
Val running(Emitter &e, const Val &x, int64_t dim, const std::string &combine, const Val &init);
/// Returns x[..., position, ...], where `position` has the dims of x without `dim`. A position out of bounds yields 0.
Val pick(Emitter &e, const Val &x, const Val &position, int64_t dim);
/// Returns the sum over `dims` in the type of x.
Val sum(Emitter &e, const Val &x, const Ints &dims);
/// Broadcasts `reduced`, which lacks `dim`, along it.
Val spread(Emitter &e, const Val &reduced, int64_t dim, const Ints &to);
/// Returns (i64) for each value the number of elements of `sequence`, which is sorted along its last dim, that are smaller, or with `right` not
/// greater. `sequence` is [n] with values of any shape, or [..., n] with values [..., k].
Val search(Emitter &e, const Val &sequence, const Val &values, bool right);
/// Adds `updates` to `target` (one dim) at `index` (both [n]); positions out of bounds are ignored.
Val addAt(Emitter &e, const Val &target, const Val &index, const Val &updates);
/// Returns true where an element is not zero.
Val truth(Emitter &e, const Val &x);
Val isNan(Emitter &e, const Val &x);

} // namespace millrace::tracing::order

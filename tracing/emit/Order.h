// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Order.h - Sorting, running folds, counting: what families share -----===//
#pragma once
#include "tracing/Emit.h"

namespace millrace::tracing::order {

using Vals = std::vector<Val>;

/// From 0; a tensor without dims counts as one of one dim.
int64_t dimOf(int64_t dim, int64_t rank);
/// Sorted values and their positions (i64) along `dim`; stable, NaN counts as the greatest.
Vals sorted(Emitter &e, const Val &x, int64_t dim, bool descending);
/// result[i] = combine(x[0], ..., x[i]) along `dim`; `init` is neutral.
Val running(Emitter &e, const Val &x, int64_t dim, const std::string &combine, const Val &init);
/// x[..., position, ...] where `position` has the dims of x without `dim`; a position outside gives 0.
Val pick(Emitter &e, const Val &x, const Val &position, int64_t dim);
/// Sum over `dims` in the type of x.
Val sum(Emitter &e, const Val &x, const Ints &dims);
/// `reduced`, which lacks `dim`, at every position of it.
Val spread(Emitter &e, const Val &reduced, int64_t dim, const Ints &to);
/// Per value the number of elements of `sequence` (sorted along its last dim) that are smaller, or with `right` not greater.
/// sequence [n] with values of any shape, or [..., n] with [..., k]; i64.
Val search(Emitter &e, const Val &sequence, const Val &values, bool right);
/// `target` (one dim) with `updates` added at `index` (both [n]); what lies outside is dropped.
Val addAt(Emitter &e, const Val &target, const Val &index, const Val &updates);
/// True where not zero.
Val truth(Emitter &e, const Val &x);
Val isNan(Emitter &e, const Val &x);

} // namespace millrace::tracing::order

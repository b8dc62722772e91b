// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Families.h - Helpers that several families of operators share -------===//
#pragma once
#include "tracing/emit/Emit.h"

#include <algorithm>
#include <numeric>

namespace millrace::tracing {

using Vals = std::vector<Val>;

/// Returns an argument in the type in which PyTorch computes the first result.
inline Val mathValue(const Call &c, size_t index) { return c.e.convert(c.val(index), mathType(c.out().dtype)); }
/// Returns mathValue() broadcast to the first result.
inline Val mathLike(const Call &c, size_t index) { return c.e.broadcast(mathValue(c, index), c.out().dims); }
/// Converts and reshapes a value with as many elements to a result's type and shape.
inline Val finished(const Call &c, const Val &value, size_t result = 0) {
  return c.e.reshape(c.e.convert(value, c.out(result).dtype), c.out(result).dims);
}

inline Ints countFrom(int64_t from, int64_t to) {
  Ints made(std::max<int64_t>(0, to - from));
  std::iota(made.begin(), made.end(), from);
  return made;
}
/// Converts a dim that may be negative to one that counts from 0.
inline int64_t wrapDim(int64_t dim, int64_t rank) { return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim; }
inline int64_t productOf(const Ints &dims, size_t from = 0, size_t to = size_t(-1)) {
  int64_t made = 1;
  for (size_t i = from; i < std::min(to, dims.size()); ++i)
    made *= dims[i];
  return made;
}

inline Val zeros(Emitter &e, const Shape &shape) { return e.constant(int64_t(0), shape); }
inline Val total(Emitter &e, const Val &x, const Ints &dims) {
  return x ? e.reduce(x, e.constant(int64_t(0), {x.dtype(), {}}), dims, "stablehlo.add") : x;
}
/// Broadcasts a reduced value over the dims that were reduced.
inline Val spreadOver(Emitter &e, const Val &reduced, const Ints &reducedDims, const Ints &to) {
  Ints mapping;
  for (int64_t i = 0; i < int64_t(to.size()); ++i)
    if (std::find(reducedDims.begin(), reducedDims.end(), i) == reducedDims.end())
      mapping.push_back(i);
  return e.broadcastInDim(reduced, to, mapping);
}

inline Val both(Emitter &e, const Val &a, const Val &b) { return e.op("stablehlo.and", {a, b}); }
inline Val either(Emitter &e, const Val &a, const Val &b) { return e.op("stablehlo.or", {a, b}); }
inline Val negated(Emitter &e, const Val &a) { return e.op("stablehlo.not", {a}); }
inline Val maximum(Emitter &e, const Val &a, const Val &b) { return e.op("stablehlo.maximum", {a, b}); }
inline Val minimum(Emitter &e, const Val &a, const Val &b) { return e.op("stablehlo.minimum", {a, b}); }
inline Val absolute(Emitter &e, const Val &a) { return e.op("stablehlo.abs", {a}); }
inline Val exponential(Emitter &e, const Val &a) { return e.op("stablehlo.exponential", {a}); }
inline Val logarithm(Emitter &e, const Val &a) { return e.op("stablehlo.log", {a}); }

/// Returns x[index] along its leading `count` dims; `index` is [..., count], with positions that are in bounds.
Val gatherAt(Emitter &e, const Val &x, const Val &index, int64_t count);
/// Combines `updates` with x[index] (`combine` = "": replaces); positions that are out of bounds are ignored.
Val scatterAt(Emitter &e, const Val &x, const Val &index, const Val &updates, int64_t count, const std::string &combine,
              bool isUnique = false);
/// Returns x[..., index, ...]: the dims of `index`, which has any shape, replace `dim`.
Val takeAlong(Emitter &e, const Val &x, const Val &index, int64_t dim);

} // namespace millrace::tracing

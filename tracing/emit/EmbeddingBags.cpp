// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddingBags.cpp - Sums, means, maxima of rows of a table ----------===//
#include "tracing/emit/Families.h"
#include "tracing/emit/Order.h"

#include <cmath>

namespace millrace::tracing {
namespace {

constexpr int64_t kMean = 1, kMax = 2; // 0 is the sum

Val column(Emitter &e, const Val &index) {
  Ints dims = index.dims();
  dims.push_back(1);
  return e.reshape(index, dims);
}

/// The operands of every variant: indices [n], the bag of each index [n], and whether the index counts [n].
struct Bags {
  Val index, bag, counts; ///< i64, i64, i1
  int64_t n = 0, bags = 0;
  Bags(const Call &c, size_t indexAt, int64_t bags, int64_t padding) : bags(bags) {
    index = c.e.convert(c.val(indexAt), DType::I64);
    if (!index)
      return;
    n = index.shape.count();
    index = c.e.reshape(index, {n});
    counts = c.e.compare(index, c.e.constant(padding, index.shape), "NE");
  }
  /// Computes the bags from the offsets at which they start.
  void fromOffsets(const Call &c, size_t at) {
    Emitter &e = c.e;
    Val offsets = e.convert(c.val(at), DType::I64);
    if (!offsets)
      return;
    // The bag of an index is the number of bags that start at or before it; bags that start after the last index are empty.
    Val starts = e.sliceDim(offsets, 0, 0, bags), ones = e.constant(int64_t(1), {DType::I64, {bags}});
    Val begun = scatterAt(e, zeros(e, {DType::I64, {n}}), column(e, starts), ones, 1, "stablehlo.add");
    bag = e.sub(order::running(e, begun, 0, "stablehlo.add", e.constant(int64_t(0), {DType::I64, {}})), e.constant(int64_t(1), {DType::I64, {n}}));
  }
  /// Returns the number of indices that count in each bag, in `type`.
  Val sizes(Emitter &e, DType type) const {
    Val ones = e.convert(counts, type);
    return scatterAt(e, zeros(e, {type, {bags}}), column(e, bag), ones, 1, "stablehlo.add");
  }
};

/// Replaces the rows of x that do not count.
Val masked(Emitter &e, const Val &x, const Val &counts, const Val &otherwise) {
  return e.select(e.broadcastInDim(counts, x.dims(), {0}), x, otherwise);
}

/// Arguments: weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx.
/// Results: result, bag of each index, size of each bag, row of each maximum.
Vals forward(const Call &c) {
  Emitter &e = c.e;
  int64_t mode = c.integer(4), bags = c.out().dims[0], padding = c.integer(8, -1);
  Val table = mathValue(c, 0);
  Bags b(c, 1, bags, padding);
  if (!table || !b.index)
    return {Val()};
  b.fromOffsets(c, 2);
  if (!b.bag)
    return {Val()};
  Val rows = takeAlong(e, table, b.index, 0), zero = e.like(rows, 0), result, maxima;
  Shape wide{table.dtype(), c.out().dims};
  Val sizes = b.sizes(e, DType::I64);
  if (mode == kMax) {
    Val none = e.like(rows, -INFINITY);
    result = scatterAt(e, e.constant(-INFINITY, wide), column(e, b.bag), masked(e, rows, b.counts, none), 1, "stablehlo.maximum");
    // The position of a maximum is the first index whose row has it.
    Val isFirst = e.compare(rows, takeAlong(e, result, b.bag, 0), "EQ");
    Shape positions{DType::I64, rows.dims()};
    Val place = e.select(isFirst, e.iota(positions, 0), e.constant(b.n, positions));
    place = masked(e, place, b.counts, e.constant(b.n, positions));
    Val first = scatterAt(e, e.constant(b.n, {DType::I64, wide.dims}), column(e, b.bag), place, 1, "stablehlo.minimum");
    Val isEmpty = e.compare(first, e.like(first, double(b.n)), "EQ");
    result = e.select(isEmpty, e.constant(0.0, wide), result);
    if (c.out(3).dims == wide.dims && b.n)
      maxima = e.select(isEmpty, e.like(first, 0), takeAlong(e, b.index, minimum(e, first, e.like(first, double(b.n - 1))), 0));
  } else {
    if (c.has(6))
      rows = e.mul(rows, e.broadcastInDim(e.convert(c.val(6), table.dtype()), rows.dims(), {0}));
    result = scatterAt(e, e.constant(0.0, wide), column(e, b.bag), masked(e, rows, b.counts, zero), 1, "stablehlo.add");
    if (mode == kMean) {
      Val count = maximum(e, e.convert(sizes, table.dtype()), e.constant(1.0, {table.dtype(), {bags}}));
      result = e.div(result, e.broadcastInDim(count, wide.dims, {0}));
    }
  }
  auto given = [&](const Val &value, size_t i) {
    return value && value.dims() == c.out(i).dims ? e.convert(value, c.out(i).dtype) : zeros(e, c.out(i));
  };
  Val sizesOut = sizes; // with include_last_offset there is one more offset than bags
  if (c.out(2).dims == Ints{bags + 1})
    sizesOut = e.concatenate({sizes, zeros(e, {DType::I64, {1}})}, 0);
  return {finished(c, result), given(b.bag, 1), given(sizesOut, 2), given(maxima, 3)};
}

/// Computes the gradient of the table.
Vals tableGradient(const Call &c, const Bags &b, size_t maximaAt, bool byFrequency, int64_t mode, size_t weightsAt) {
  Emitter &e = c.e;
  Val grad = mathValue(c, 0);
  if (!grad || !b.bag)
    return {Val()};
  DType math = grad.dtype();
  Val table = e.constant(0.0, {math, c.out().dims});
  if (mode == kMax) {
    Val maxima = e.convert(c.val(maximaAt), DType::I64), isFull = e.compare(b.sizes(e, DType::I64), zeros(e, {DType::I64, {b.bags}}), "GT");
    Shape shape{DType::I64, grad.dims()};
    Val place = e.concatenate({column(e, maxima), column(e, e.iota(shape, 1))}, 2);
    return {finished(c, scatterAt(e, table, place, masked(e, grad, isFull, e.like(grad, 0)), 2, "stablehlo.add"))};
  }
  if (mode == kMean) {
    Val count = maximum(e, b.sizes(e, math), e.constant(1.0, {math, {b.bags}}));
    grad = e.div(grad, e.broadcastInDim(count, grad.dims(), {0}));
  }
  Val rows = takeAlong(e, grad, b.bag, 0);
  if (c.has(weightsAt))
    rows = e.mul(rows, e.broadcastInDim(e.convert(c.val(weightsAt), math), rows.dims(), {0}));
  if (byFrequency) {
    Val often = scatterAt(e, e.constant(0.0, {math, {c.out().dims[0]}}), column(e, b.index), e.constant(1.0, {math, {b.n}}), 1, "stablehlo.add");
    rows = e.div(rows, e.broadcastInDim(takeAlong(e, often, b.index, 0), rows.dims(), {0}));
  }
  rows = masked(e, rows, b.counts, e.like(rows, 0));
  return {finished(c, scatterAt(e, table, column(e, b.index), rows, 1, "stablehlo.add"))};
}

/// Arguments: grad, indices, offsets, offset2bag, bag_size, maxima, num_weights, scale_grad_by_freq, mode, sparse, weights, padding_idx.
Vals backward(const Call &c) {
  Val grad = c.val(0);
  if (!grad || c.flag(9))
    return {grad ? c.e.fail("sparse gradients are not supported") : Val()};
  Bags b(c, 1, grad.dim(0), c.integer(11, -1));
  b.fromOffsets(c, 2);
  return tableGradient(c, b, 5, c.flag(7), c.integer(8), 10);
}

/// Arguments: grad, indices, offset2bag, bag_size, maxima, num_weights, scale_grad_by_freq, mode, weights, padding_idx.
Vals denseBackward(const Call &c) {
  Val grad = c.val(0);
  if (!grad)
    return {Val()};
  Bags b(c, 1, grad.dim(0), c.integer(9, -1));
  b.bag = c.e.convert(c.val(2), DType::I64);
  if (b.bag && b.bag.dims() != Ints{b.n})
    return {c.e.fail("the bags of the indices are not given")};
  return tableGradient(c, b, 4, c.flag(6), c.integer(7), 8);
}

/// Arguments: grad, weight, indices, offsets, offset2bag, mode, padding_idx.
Vals weightsGradient(const Call &c) {
  Emitter &e = c.e;
  Val grad = mathValue(c, 0), table = mathValue(c, 1);
  if (!grad || !table)
    return {Val()};
  Bags b(c, 2, grad.dim(0), c.integer(6, -1));
  b.fromOffsets(c, 3);
  Val dot = total(e, e.mul(takeAlong(e, grad, b.bag, 0), takeAlong(e, table, b.index, 0)), {1});
  return {finished(c, e.select(b.counts, dot, e.like(dot, 0)))};
}

} // namespace

void registerEmbeddingBags(Registry &r) {
  r.add({"_embedding_bag", "_embedding_bag_forward_only"}, forward);
  r.add({"_embedding_bag_backward"}, backward);
  r.add({"_embedding_bag_dense_backward"}, denseBackward);
  r.add({"_embedding_bag_per_sample_weights_backward"}, weightsGradient);
}

} // namespace millrace::tracing

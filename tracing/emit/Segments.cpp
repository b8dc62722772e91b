// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Segments.cpp - Binary search, reductions of segments, put -----------===//
#include "tracing/emit/Search.h"

#include <cmath>

namespace millrace::tracing {

Val searchSorted(Emitter &e, const Val &sorted, const Val &values, bool right, const Val &order) {
  if (!sorted || !values)
    return {};
  int64_t count = sorted.rank() ? sorted.dim(-1) : 1, rows = count ? sorted.shape.count() / count : 1;
  Ints given = values.dims();
  int64_t perRow = rows ? values.shape.count() / rows : 0;
  Shape shape{DType::I64, {rows, perRow}};
  if (count == 0 || values.shape.count() == 0)
    return zeros(e, {DType::I64, given});
  Val table = e.reshape(sorted, {rows * count}), wanted = e.reshape(values, shape.dims);
  Val rowStart = e.mul(e.iota(shape, 0), e.constant(count, shape));
  auto at = [&](const Val &flat, const Val &index) {
    return takeAlong(e, flat, e.add(rowStart, minimum(e, index, e.constant(count - 1, shape))), 0);
  };
  Val low = e.constant(int64_t(0), shape), high = e.constant(count, shape), one = e.constant(int64_t(1), shape);
  for (int64_t reach = count; reach > 0; reach /= 2) {
    Val middle = e.op("stablehlo.shift_right_arithmetic", {e.add(low, high), one});
    Val place = order ? at(e.reshape(order, {rows * count}), middle) : middle;
    // The comparison is negated instead of inverted, so that NaN is sorted after all numbers.
    Val goesRight = negated(e, e.compare(at(table, place), wanted, right ? "GT" : "GE"));
    Val isOpen = e.compare(low, high, "LT");
    low = e.select(both(e, isOpen, goesRight), e.add(middle, one), low);
    high = e.select(both(e, isOpen, negated(e, goesRight)), middle, high);
  }
  return e.reshape(low, given);
}

namespace {

//===-- Segments ------------------------------------------------------------===//

/// The tensor data, [batch..., length, inner...], cut along `axis` into segments.
struct Segments {
  Val id;      ///< [batch, length]: index of the segment, or the number of segments if there is none
  Val lengths; ///< [batch, segments]
  int64_t batch = 1, length, inner = 1, segments = 0;

  Segments(const Call &c, const Val &data, int64_t axis, size_t lengthsAt, size_t offsetsAt) {
    Emitter &e = c.e;
    for (int64_t i = 0; i < data.rank(); ++i)
      (i < axis ? batch : i > axis ? inner : length) = (i < axis ? batch : i > axis ? inner : 1) * data.dims()[i];
    bool hasOffsets = c.has(offsetsAt);
    if (!hasOffsets && !c.has(lengthsAt)) {
      e.fail("expects lengths or offsets of the segments");
      return;
    }
    Val given = e.convert(c.val(hasOffsets ? offsetsAt : lengthsAt), DType::I64), ends, starts;
    if (!given)
      return;
    segments = given.dim(-1) - hasOffsets;
    given = e.reshape(given, {batch, given.dim(-1)});
    if (hasOffsets) {
      ends = e.sliceDim(given, 1, 1, segments + 1);
      starts = e.sliceDim(given, 1, 0, segments);
      lengths = e.sub(ends, starts);
    } else {
      lengths = given;
      Shape square{DType::I64, {batch, segments, segments}};
      Val isBefore = e.compare(e.iota(square, 2), e.iota(square, 1), "LE");
      ends = total(e, e.select(isBefore, spreadOver(e, lengths, {1}, square.dims), zeros(e, square)), {2});
    }
    id = searchSorted(e, ends, e.iota({DType::I64, {batch, length}}, 1), true);
  }
  /// Returns index vectors [batch, segment] for each element of [batch, length].
  Val places(Emitter &e) const {
    Ints dims = {batch, length, 1};
    return e.concatenate({e.iota({DType::I64, dims}, 0), e.reshape(id, dims)}, 2);
  }
  /// Returns for each element the value of its segment; x is [batch, segments, inner].
  Val atElements(Emitter &e, const Val &x) const {
    Shape shape{DType::I64, {batch, length, 1}};
    Val within = minimum(e, id, e.like(id, double(segments - 1)));
    return gatherAt(e, x, e.concatenate({e.iota(shape, 0), e.reshape(within, shape.dims)}, 2), 2);
  }
  Val combined(Emitter &e, const Val &init, const Val &x, const std::string &combine) const {
    return scatterAt(e, init, places(e), x, 2, combine);
  }
};

std::string combinerOf(const std::string &how) {
  return how == "max" ? "stablehlo.maximum" : how == "min" ? "stablehlo.minimum" : how == "prod" ? "stablehlo.multiply" : "stablehlo.add";
}

double neutralOf(const std::string &how) { return how == "max" ? -INFINITY : how == "min" ? INFINITY : how == "prod" ? 1 : 0; }

/// Arguments: data, reduce, lengths, indices, offsets, axis, unsafe, initial.
Vals segmentReduce(const Call &c) {
  Emitter &e = c.e;
  Val data = mathValue(c, 0);
  std::string how = c.text(1);
  if (!data)
    return {data};
  Segments s(c, data, wrapDim(c.integer(5), data.rank()), 2, 4);
  if (!s.id)
    return {Val()};
  Shape shape{data.dtype(), {s.batch, s.segments, s.inner}};
  Val init = e.constant(c.has(7) ? c.real(7) : neutralOf(how), shape);
  Val made = s.combined(e, init, e.reshape(data, {s.batch, s.length, s.inner}), combinerOf(how));
  if (how == "mean") {
    Val count = spreadOver(e, e.convert(s.lengths, data.dtype()), {2}, shape.dims), isEmpty = e.compare(count, e.like(count, 0), "EQ");
    made = e.select(isEmpty, c.has(7) ? made : e.constant(NAN, shape), e.div(made, count));
  }
  return {finished(c, made)};
}

/// Arguments: grad, output, data, reduce, lengths, offsets, axis, initial.
Vals segmentReduceBackward(const Call &c) {
  Emitter &e = c.e;
  Val data = mathValue(c, 2), grad = mathValue(c, 0), output = mathValue(c, 1);
  std::string how = c.text(3);
  if (!data || !grad || !output)
    return {Val()};
  Segments s(c, data, wrapDim(c.integer(6), data.rank()), 4, 5);
  if (!s.id)
    return {Val()};
  Shape segment{data.dtype(), {s.batch, s.segments, s.inner}}, element{data.dtype(), {s.batch, s.length, s.inner}};
  if (s.segments == 0 || element.count() == 0)
    return {zeros(e, c.out())};
  Val x = e.reshape(data, element.dims), g = s.atElements(e, e.reshape(grad, segment.dims)), zero = e.like(x, 0), one = e.like(x, 1);
  Val made = g, none = e.constant(0.0, segment), isZero = e.compare(x, zero, "EQ");
  if (how == "mean") {
    made = e.div(g, s.atElements(e, spreadOver(e, e.convert(s.lengths, data.dtype()), {2}, segment.dims)));
  } else if (how == "max" || how == "min") {
    Val isBest = either(e, e.compare(x, s.atElements(e, e.reshape(output, segment.dims)), "EQ"), e.compare(x, x, "NE"));
    Val count = s.combined(e, none, e.select(isBest, one, zero), "stablehlo.add");
    made = e.select(isBest, e.div(g, s.atElements(e, count)), zero);
  } else if (how == "prod") {
    // The product without the element itself is a quotient, or, if the element is the only zero, the product of the other elements.
    Val others = s.combined(e, e.constant(c.has(7) ? c.real(7) : 1, segment), e.select(isZero, one, x), "stablehlo.multiply");
    Val count = s.atElements(e, s.combined(e, none, e.select(isZero, one, zero), "stablehlo.add"));
    others = s.atElements(e, others);
    Val share = e.select(e.compare(count, zero, "EQ"), e.div(others, x),
                         e.select(both(e, isZero, e.compare(count, one, "EQ")), others, zero));
    made = e.mul(g, share);
  }
  Val isInside = e.compare(s.id, e.like(s.id, double(s.segments)), "LT");
  return {finished(c, e.select(e.broadcastInDim(isInside, element.dims, {0, 1}), made, zero))};
}

/// Arguments: self, index, source, accumulate. The indices are positions in the flat tensor.
Vals put(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0), index = e.convert(c.val(1), DType::I64), source = c.val(2);
  if (!x || !index || !source)
    return {Val()};
  int64_t count = x.shape.count(), n = index.shape.count();
  index = e.reshape(index, {n, 1});
  index = e.select(e.compare(index, e.like(index, 0), "LT"), e.add(index, e.like(index, double(count))), index);
  std::string combine = !c.flag(3) ? "" : x.dtype() == DType::I1 ? "stablehlo.or" : "stablehlo.add";
  return {e.reshape(scatterAt(e, e.reshape(x, {count}), index, e.reshape(e.convert(source, x.dtype()), {n}), 1, combine), x.dims())};
}

} // namespace

void registerSegments(Registry &r) {
  r.add({"segment_reduce"}, segmentReduce, /*numbersAreStatic=*/true);
  r.add({"_segment_reduce_backward"}, segmentReduceBackward, /*numbersAreStatic=*/true);
  r.add({"put"}, put);
}

} // namespace millrace::tracing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sorting.cpp - Sorting, order statistics, searching ------------------===//
#include "tracing/emit/Order.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace millrace::tracing {
namespace order {

int64_t dimOf(int64_t dim, int64_t rank) { return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim; }

Vals sorted(Emitter &e, const Val &x, int64_t dim, bool descending) {
  if (!x)
    return Vals(2);
  if (x.rank() == 0)
    return {x, e.constant(int64_t(0), {DType::I64, {}})};
  Val positions = e.iota({DType::I64, x.dims()}, dim);
  Shape value{x.dtype(), {}}, position{DType::I64, {}};
  return e.ops("stablehlo.sort", {x, positions}, {{"dimension", intText(dim)}, {"is_stable", "true"}},
               {x.shape, positions.shape}, {value, value, position, position}, [&](const Vals &in) -> Vals {
                 Val a = descending ? in[1] : in[0], b = descending ? in[0] : in[1];
                 Val less = e.compare(a, b, "LT");
                 if (runtime::isFloat(a.dtype()))
                   less = e.op("stablehlo.or", {less, e.op("stablehlo.and", {e.compare(b, b, "NE"), e.compare(a, a, "EQ")})});
                 return {less};
               });
}

Val sum(Emitter &e, const Val &x, const Ints &dims) {
  return x ? e.reduce(x, e.constant(int64_t(0), {x.dtype(), {}}), dims, x.dtype() == DType::I1 ? "stablehlo.or" : "stablehlo.add") : x;
}

Val spread(Emitter &e, const Val &reduced, int64_t dim, const Ints &to) {
  Ints mapping;
  for (int64_t i = 0; i < int64_t(to.size()); ++i)
    if (i != dim)
      mapping.push_back(i);
  return e.broadcastInDim(reduced, to, mapping);
}

Val pick(Emitter &e, const Val &x, const Val &position, int64_t dim) {
  if (!x || !position)
    return {};
  Val here = e.compare(e.iota({position.dtype(), x.dims()}, dim), spread(e, position, dim, x.dims()), "EQ");
  return sum(e, e.select(here, x, e.constant(int64_t(0), x.shape)), {dim});
}

Val truth(Emitter &e, const Val &x) { return x && x.dtype() != DType::I1 ? e.compare(x, e.constant(int64_t(0), x.shape), "NE") : x; }
Val isNan(Emitter &e, const Val &x) { return e.compare(x, x, "NE"); }

/// Compares the value with every element of a short sequence; searches a long one by bisection.
Val search(Emitter &e, const Val &sequence, const Val &values, bool right) {
  if (!sequence || !values)
    return {};
  int64_t n = sequence.dim(-1), lanes = values.shape.count();
  Shape result{DType::I64, values.dims()};
  if (n == 0 || lanes == 0)
    return e.constant(int64_t(0), result);
  int64_t rows = sequence.shape.count() / n, columns = lanes / rows;
  Val table = e.reshape(sequence, {rows, n}), wanted = e.reshape(values, {rows, columns});
  // An element is counted unless it is greater than the value; NaN is the greatest value.
  auto isBefore = [&](const Val &element, const Val &value) {
    return e.op("stablehlo.not", {e.compare(element, value, right ? "GT" : "GE")});
  };
  if (n <= 32) {
    Ints dims = {rows, columns, n};
    Val before = isBefore(e.broadcastInDim(table, dims, {0, 2}), e.broadcastInDim(wanted, dims, {0, 1}));
    return e.reshape(sum(e, e.convert(before, DType::I64), {2}), values.dims());
  }
  Shape index{DType::I64, {rows, columns}};
  Val found = e.constant(int64_t(0), index), row = e.reshape(e.iota(index, 0), {rows, columns, 1});
  int64_t step = 1;
  while (step * 2 <= n)
    step *= 2;
  for (; step; step /= 2) {
    Val next = e.add(found, e.constant(step, index)), last = e.sub(next, e.constant(int64_t(1), index));
    Val inside = e.compare(next, e.constant(n, index), "LE");
    Val place = e.op("stablehlo.minimum", {last, e.constant(n - 1, index)});
    Val element = e.op("stablehlo.gather", {table, e.concatenate({row, e.reshape(place, {rows, columns, 1})}, 2)},
                       {{"dimension_numbers", "#stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
                                              "index_vector_dim = 2>"},
                        {"slice_sizes", arrayText({1, 1})}},
                       Shape{table.dtype(), {rows, columns}});
    found = e.select(e.op("stablehlo.and", {inside, isBefore(element, wanted)}), next, found);
  }
  return e.reshape(found, values.dims());
}

} // namespace order

namespace {

using namespace order;

Vals sort(const Call &c, size_t dimAt, size_t descendingAt) {
  Val x = c.val(0);
  return x ? sorted(c.e, x, dimOf(c.integer(dimAt, -1), x.rank()), c.flag(descendingAt)) : Vals(2);
}

/// Arguments: self, k, dim, largest, sorted.
Vals topk(const Call &c) {
  Val x = c.val(0);
  if (!x)
    return Vals(2);
  int64_t dim = dimOf(c.integer(2, -1), x.rank()), k = c.integer(1);
  Vals made = sorted(c.e, x, dim, c.flag(3, true));
  if (x.rank() == 0)
    return {c.e.reshape(made[0], c.out().dims), c.e.reshape(made[1], c.out(1).dims)};
  return {c.e.sliceDim(made[0], dim, 0, k), c.e.sliceDim(made[1], dim, 0, k)};
}

Vals shaped(const Call &c, const Vals &values) {
  Vals made;
  for (size_t i = 0; i < values.size() && i < c.results.size(); ++i)
    made.push_back(c.e.reshape(values[i], c.out(i).dims));
  return made;
}

/// Arguments: self, k, dim, keepdim.
Vals kthValue(const Call &c) {
  Val x = c.val(0);
  if (!x)
    return Vals(2);
  int64_t dim = dimOf(c.integer(2, -1), x.rank()), k = c.integer(1);
  Vals made = sorted(c.e, x, dim, false);
  if (x.rank())
    for (Val &value : made)
      value = c.e.sliceDim(value, dim, k - 1, k);
  return shaped(c, made);
}

/// Returns the lower one of two middle values, and its position. The median is NaN if an element is, unless NaN is ignored.
Vals median(const Call &c, const Val &x, int64_t dim, bool ignoresNan) {
  Emitter &e = c.e;
  if (!x)
    return Vals(2);
  if (x.rank() == 0)
    return shaped(c, {x, e.constant(int64_t(0), {DType::I64, {}})});
  int64_t n = x.dims()[dim];
  Vals made = sorted(e, x, dim, false);
  if (!runtime::isFloat(x.dtype())) {
    for (Val &value : made)
      value = e.sliceDim(value, dim, (n - 1) / 2, (n - 1) / 2 + 1);
    return shaped(c, made);
  }
  Val numbers = sum(e, e.convert(e.compare(x, x, "EQ"), DType::I64), {dim}), zero = e.like(numbers, 0), place;
  if (ignoresNan) { // if all elements are NaN, the first one is the median
    Val middle = e.div(e.sub(numbers, e.like(numbers, 1)), e.like(numbers, 2));
    place = e.op("stablehlo.maximum", {middle, zero});
  } else {
    place = e.select(e.compare(numbers, e.like(numbers, double(n)), "EQ"), e.like(numbers, double((n - 1) / 2)), numbers);
  }
  return shaped(c, {pick(e, made[0], place, dim), pick(e, made[1], place, dim)});
}

Vals medianOfAll(const Call &c, bool ignoresNan) {
  Val x = c.val(0);
  if (x && x.shape.count() == 0)
    return {c.e.constant(runtime::isFloat(x.dtype()) ? std::numeric_limits<double>::quiet_NaN() : double(INT64_MIN), c.out())};
  x = x ? c.e.reshape(x, {x.shape.count()}) : x;
  return {median(c, x, 0, ignoresNan)[0]};
}
Vals medianOfDim(const Call &c, bool ignoresNan) {
  Val x = c.val(0);
  return x ? median(c, x, dimOf(c.integer(1), x.rank()), ignoresNan) : Vals(2);
}

/// Arguments: self, dim, keepdim. Returns the most frequent value, the smallest of several, and its last position.
Vals mode(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x)
    return Vals(2);
  int64_t dim = dimOf(c.integer(1, -1), x.rank());
  if (x.rank() == 0 || x.shape.count() == 0)
    return shaped(c, {x.rank() ? e.constant(int64_t(0), c.out()) : x, e.constant(int64_t(0), c.out(1))});
  int64_t n = x.dims()[dim];
  Vals made = sorted(e, x, dim, false);
  Val place = e.iota({DType::I64, x.dims()}, dim);
  Val isFirst = e.compare(place, e.like(place, 0), "EQ");
  if (n > 1) {
    Val differs = e.compare(e.sliceDim(made[0], dim, 1, n), e.sliceDim(made[0], dim, 0, n - 1), "NE");
    isFirst = e.concatenate({e.sliceDim(isFirst, dim, 0, 1), differs}, dim);
  }
  Val start = running(e, e.select(isFirst, place, e.like(place, 0)), dim, "stablehlo.maximum", e.constant(int64_t(0), {DType::I64, {}}));
  // The score orders runs by length, then by position: n * length - position has one maximum, the first one of the longest runs.
  Val score = e.sub(e.mul(e.sub(place, start), e.like(place, double(n))), place);
  Val best = e.reduce(score, e.lowest(DType::I64), {dim}, "stablehlo.maximum");
  Val chosen = e.compare(score, spread(e, best, dim, x.dims()), "EQ");
  auto only = [&](const Val &value) { return sum(e, e.select(chosen, value, e.constant(int64_t(0), value.shape)), {dim}); };
  return shaped(c, {only(made[0]), only(made[1])});
}

/// The arguments from `flagsAt` on: out_int32, right, side, sorter.
Vals searchSorted(const Call &c, Val sequence, Val values, size_t flagsAt) {
  Emitter &e = c.e;
  if (!sequence || !values)
    return {Val()};
  DType type = promote(sequence.dtype(), values.isWeak ? sequence.dtype() : values.dtype());
  bool right = c.flag(flagsAt + 1) || c.text(flagsAt + 2) == "right";
  if (c.has(flagsAt + 3) && sequence.shape.count()) {
    Val order = c.val(flagsAt + 3);
    Ints rows = {sequence.shape.count() / std::max<int64_t>(sequence.dim(-1), 1), sequence.dim(-1)}, column = {rows[0], rows[1], 1};
    Val index = e.reshape(e.convert(order, DType::I64), column);
    index = e.concatenate({e.iota({DType::I64, column}, 0), index}, 2);
    Val taken = e.op("stablehlo.gather", {e.reshape(sequence, rows), index},
                     {{"dimension_numbers", "#stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
                                            "index_vector_dim = 2>"},
                      {"slice_sizes", arrayText({1, 1})}},
                     Shape{sequence.dtype(), rows});
    sequence = e.reshape(taken, sequence.dims());
  }
  return {e.convert(search(e, e.convert(sequence, type), e.convert(values, type), right), c.out().dtype)};
}

} // namespace

void registerSorting(Registry &r) {
  r.add({"sort"}, [](const Call &c) { return sort(c, 1, 2); });
  r.add({"sort.stable"}, [](const Call &c) { return sort(c, 2, 3); });
  r.add({"argsort", "argsort.default"}, [](const Call &c) -> Vals { return {sort(c, 1, 2)[1]}; });
  r.add({"topk"}, topk);
  r.add({"kthvalue"}, kthValue);
  r.add({"median"}, [](const Call &c) { return medianOfAll(c, false); });
  r.add({"nanmedian"}, [](const Call &c) { return medianOfAll(c, true); });
  r.add({"median.dim"}, [](const Call &c) { return medianOfDim(c, false); });
  r.add({"nanmedian.dim"}, [](const Call &c) { return medianOfDim(c, true); });
  r.add({"mode"}, mode);
  r.add({"searchsorted.Tensor", "searchsorted.Scalar"}, [](const Call &c) { return searchSorted(c, c.val(0), c.val(1), 2); });
  r.add({"bucketize.Tensor", "bucketize.Scalar"}, [](const Call &c) { // without the arguments side and sorter
    Val values = c.val(0), sequence = c.val(1);
    if (!values || !sequence)
      return Vals(1);
    if (sequence.rank() != 1)
      return Vals{c.e.fail("expects boundaries of one dim")};
    DType type = promote(sequence.dtype(), values.isWeak ? sequence.dtype() : values.dtype());
    return Vals{c.e.convert(search(c.e, c.e.convert(sequence, type), c.e.convert(values, type), c.flag(3)), c.out().dtype)};
  });
}

} // namespace millrace::tracing

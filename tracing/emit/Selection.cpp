// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selection.cpp - Operators whose result size depends on values -------===//
// The program computes a result of the largest possible size, and the actual size. The front end reads that number, which ends the graph, and slices
// the result.
#include "tracing/emit/Order.h"

#include <algorithm>

namespace millrace::tracing {
namespace {

using namespace order;

Shape numbers(int64_t count) { return {DType::I64, {count}}; }

/// Moves x[i] for all i with a flag to the front, in order, and fills up with zeros. Also returns the number of flags.
Vals compacted(Emitter &e, const Val &x, const Val &flags) {
  if (!x || !flags)
    return Vals(2);
  int64_t n = flags.dim(0);
  Val zero = e.constant(int64_t(0), {DType::I64, {}});
  if (n == 0)
    return {x, zero};
  Val ones = e.convert(flags, DType::I64), before = e.sub(running(e, ones, 0, "stablehlo.add", zero), ones);
  Val place = e.select(flags, before, e.constant(n, before.shape)); // n is out of bounds, so that the element is dropped
  return {addAt(e, e.constant(int64_t(0), x.shape), place, x), sum(e, ones, {0})};
}

/// Arguments: x. Results: positions [n] in the flat tensor of elements that are not zero, and their number.
Vals nonzero(const Call &c) {
  Val x = c.val(0);
  if (!x)
    return Vals(2);
  int64_t n = x.shape.count();
  Val flags = truth(c.e, c.e.reshape(x, {n}));
  return compacted(c.e, c.e.iota(numbers(n), 0), flags);
}

/// Arguments: positions [k], sizes. Results: [k, rank].
Vals unravel(const Call &c) {
  Emitter &e = c.e;
  Val rest = c.val(0);
  Ints sizes = c.ints(1);
  if (!rest || sizes.empty() || rest.dim(0) == 0)
    return {e.constant(int64_t(0), c.out())};
  Vals columns(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    Val size = e.like(rest, double(std::max<int64_t>(sizes[d], 1)));
    columns[d] = e.reshape(d ? e.op("stablehlo.remainder", {rest, size}) : rest, {rest.dim(0), 1});
    rest = e.div(rest, size);
  }
  return {e.concatenate(columns, 1)};
}

/// Returns the positions of the rows of x [n, k] in lexicographic order.
Val sortedRows(Emitter &e, const Val &x) {
  int64_t n = x.dim(0), k = x.dim(1);
  Vals operands;
  std::vector<Shape> results, arguments;
  for (int64_t j = 0; j < k; ++j)
    operands.push_back(e.reshape(e.sliceDim(x, 1, j, j + 1), {n}));
  operands.push_back(e.iota(numbers(n), 0));
  for (const Val &operand : operands) {
    results.push_back(operand.shape);
    arguments.insert(arguments.end(), 2, Shape{operand.dtype(), {}});
  }
  return e.ops("stablehlo.sort", operands, {{"dimension", intText(0)}, {"is_stable", "true"}}, results, arguments,
               [&](const Vals &in) -> Vals {
                 Val less = e.constant(int64_t(0), {DType::I1, {}});
                 for (int64_t j = k; j-- > 0;) {
                   const Val &a = in[2 * j], &b = in[2 * j + 1];
                   Val smaller = e.compare(a, b, "LT"), greater = e.compare(b, a, "LT");
                   if (runtime::isFloat(a.dtype())) { // NaN is the greatest value
                     smaller = e.op("stablehlo.or", {smaller, e.op("stablehlo.and", {isNan(e, b), e.op("stablehlo.not", {isNan(e, a)})})});
                     greater = e.op("stablehlo.or", {greater, e.op("stablehlo.and", {isNan(e, a), e.op("stablehlo.not", {isNan(e, b)})})});
                   }
                   less = e.op("stablehlo.or", {smaller, e.op("stablehlo.and", {e.op("stablehlo.not", {greater}), less})});
                 }
                 return {less};
               })
      .back();
}

Val rowsAt(Emitter &e, const Val &x, const Val &index) {
  int64_t n = x.dim(0), k = x.dim(1);
  return e.op("stablehlo.gather", {x, e.reshape(index, {n, 1})},
              {{"dimension_numbers", "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
                                     "index_vector_dim = 1>"},
               {"slice_sizes", arrayText({1, k})}},
              x.shape);
}

/// Arguments: x [n, k], whether to sort. Results: for every group of equal rows (without sorting: of adjacent ones) the position in x of its first
/// row; per row of x the number of its group; the rows of each group; the number of groups.
Vals groups(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x)
    return Vals(4);
  int64_t n = x.dim(0), k = x.dim(1);
  Val one = e.constant(int64_t(1), numbers(n)), place = e.iota(numbers(n), 0), zero = e.constant(int64_t(0), {DType::I64, {}});
  if (n == 0)
    return {place, place, place, zero};
  bool sorts = c.flag(1);
  if (sorts && k > 64)
    return Vals(4, e.fail("sorting rows of more than 64 elements is not supported"));
  Val order = sorts ? sortedRows(e, x) : place, rows = sorts ? rowsAt(e, x, order) : x;
  Val differs = e.compare(e.sliceDim(rows, 0, 1, n), e.sliceDim(rows, 0, 0, n - 1), "NE");
  Val isFirst = e.concatenate({e.constant(int64_t(1), {DType::I1, {1}}), sum(e, differs, {1})}, 0);
  Val group = e.sub(running(e, e.convert(isFirst, DType::I64), 0, "stablehlo.add", zero), one);
  Val none = e.constant(int64_t(0), numbers(n));
  Vals firsts = compacted(e, order, isFirst);
  return {firsts[0], addAt(e, none, order, group), addAt(e, none, group, one), firsts[1]};
}

/// Arguments: self, mask, source. Replaces the elements where the mask is set by consecutive elements of source.
Vals maskedScatter(const Call &c) {
  Emitter &e = c.e;
  if (c.val(1).dtype() != DType::I1)
    return {e.fail("expects a boolean mask")};
  Val x = e.broadcast(c.val(0), c.out().dims), mask = e.broadcast(truth(e, c.val(1)), c.out().dims), source = c.val(2);
  if (!x || !mask || !source)
    return {Val()};
  int64_t n = x.shape.count(), available = source.shape.count();
  if (n == 0 || available == 0)
    return {x};
  Val flags = e.reshape(mask, {n}), ones = e.convert(flags, DType::I64);
  Val before = e.sub(running(e, ones, 0, "stablehlo.add", e.constant(int64_t(0), {DType::I64, {}})), ones);
  Val taken = e.op("stablehlo.gather", {e.reshape(source, {available}), e.reshape(before, {n, 1})},
                   {{"dimension_numbers", "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"},
                    {"slice_sizes", arrayText({1})}},
                   Shape{source.dtype(), {n}});
  return {e.reshape(e.select(flags, e.convert(taken, x.dtype()), e.reshape(x, {n})), x.dims())};
}

} // namespace

Val order::addAt(Emitter &e, const Val &target, const Val &index, const Val &updates) {
  if (!target || !index || !updates || updates.shape.count() == 0)
    return target;
  Shape scalar{target.dtype(), {}};
  return e.ops("stablehlo.scatter", {target, e.reshape(index, {index.dim(0), 1}), updates},
               {{"scatter_dimension_numbers", "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                                              "index_vector_dim = 1>"}},
               {target.shape}, {scalar, scalar}, [&](const Vals &in) { return Vals{e.op("stablehlo.add", in, {}, scalar)}; })[0];
}

void registerSelection(Registry &r) {
  r.add({"millrace::nonzero"}, nonzero);
  r.add({"millrace::unravel"}, unravel);
  r.add({"millrace::groups"}, groups);
  r.add({"millrace::count"}, [](const Call &c) -> Vals { // positions [n], weights [n] -> sums per position
    Val updates = c.has(1) ? c.e.convert(c.val(1), c.out().dtype) : c.e.constant(int64_t(1), {c.out().dtype, c.val(0).dims()});
    return {addAt(c.e, c.e.constant(int64_t(0), c.out()), c.e.convert(c.val(0), DType::I64), updates)};
  });
  r.add({"masked_scatter"}, maskedScatter);
}

} // namespace millrace::tracing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexReduce.cpp - Combine rows with rows of another tensor ----------===//
#include "tracing/emit/Order.h"

#include <numeric>

namespace millrace::tracing {
namespace {

using namespace order;

/// Arguments: self, dim, index, source, reduce, include_self.
Vals indexReduce(const Call &c) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val given = c.val(0), x = e.convert(given, math), index = e.convert(c.val(2), DType::I64), source = e.convert(c.val(3), math);
  std::string how = c.text(4);
  bool includesSelf = c.flag(5, true);
  if (!x || !index || !source)
    return {Val()};
  Ints dims = x.dims();
  if (x.rank() == 0) {
    x = e.reshape(x, {1});
    source = e.reshape(source, {source.shape.count()});
  }
  int64_t count = index.shape.count();
  if (count == 0 || x.shape.count() == 0)
    return {given};
  int64_t dim = dimOf(c.integer(1), x.rank());
  // The dims are reordered to [rows, all others].
  Ints order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + dim);
  order.insert(order.begin(), dim);
  Val front = e.transpose(x, order);
  int64_t n = front.dim(0), width = front.shape.count() / n;
  Val rows = e.reshape(front, {n, width}), updates = e.reshape(e.transpose(source, order), {count, width});
  index = e.reshape(index, {count});
  index = e.select(e.compare(index, e.like(index, 0), "LT"), e.add(index, e.like(index, double(n))), index);
  Shape scalar{math, {}};
  bool isMean = how == "mean";
  Val neutral = how == "prod" ? e.constant(int64_t(1), scalar) : how == "amax" ? e.lowest(math) : how == "amin" ? e.highest(math) : e.constant(int64_t(0), scalar);
  std::string combine = how == "prod" ? "stablehlo.multiply" : how == "amax" ? "stablehlo.maximum" : how == "amin" ? "stablehlo.minimum" : "stablehlo.add";
  Val hits = addAt(e, e.constant(int64_t(0), {DType::I64, {n}}), index, e.constant(int64_t(1), index.shape));
  auto perRow = [&](const Val &value) { return e.broadcastInDim(value, {n, width}, {0}); };
  Val isHit = e.compare(hits, e.like(hits, 0), "GT");
  Val base = includesSelf ? rows : e.select(perRow(isHit), e.broadcast(neutral, {n, width}), rows);
  Val made = e.ops("stablehlo.scatter", {base, e.reshape(index, {count, 1}), updates},
                   {{"scatter_dimension_numbers", "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                                                  "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"}},
                   {base.shape}, {scalar, scalar}, [&](const Vals &in) { return Vals{e.op(combine, in, {}, scalar)}; })[0];
  if (isMean) {
    Val divisor = includesSelf ? e.add(hits, e.like(hits, 1)) : e.op("stablehlo.maximum", {hits, e.like(hits, 1)});
    Val by = perRow(e.convert(divisor, math)), quotient = e.div(made, by);
    if (!runtime::isFloat(math) && !runtime::isComplex(math)) { // integers are rounded down
      Val rest = e.sub(made, e.mul(quotient, by)), below = e.compare(rest, e.like(rest, 0), "LT");
      quotient = runtime::isSigned(math) ? e.select(below, e.sub(quotient, e.like(quotient, 1)), quotient) : quotient;
    }
    made = quotient;
  }
  Ints inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[order[i]] = int64_t(i);
  made = e.reshape(e.transpose(e.reshape(made, front.dims()), inverse), dims);
  return {e.convert(made, c.out().dtype)};
}

} // namespace

void registerIndexReduce(Registry &r) { r.add({"index_reduce"}, indexReduce); }

} // namespace millrace::tracing

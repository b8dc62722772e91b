// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scatter.cpp - Scatter reductions, positions of nonzero elements -----===//
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

/// Returns index vectors for every element of `index`: its own position, with the value of `index` as component `dim`.
Val positionsAlong(Emitter &e, const Val &index, int64_t dim) {
  Ints column = index.dims();
  column.push_back(1);
  Vals parts;
  for (int64_t i = 0; i < index.rank(); ++i)
    parts.push_back(e.reshape(i == dim ? index : e.iota({DType::I64, index.dims()}, i), column));
  return e.concatenate(parts, index.rank());
}

struct How {
  std::string combine;
  double neutral;
  bool isMean = false;
};

std::optional<How> howOf(const std::string &text) {
  if (text == "sum" || text == "add")
    return How{"stablehlo.add", 0};
  if (text == "prod" || text == "multiply")
    return How{"stablehlo.multiply", 1};
  if (text == "mean")
    return How{"stablehlo.add", 0, true};
  if (text == "amax")
    return How{"stablehlo.maximum", -INFINITY};
  if (text == "amin")
    return How{"stablehlo.minimum", INFINITY};
  return std::nullopt;
}

/// Arguments: self, dim, index, source or number, reduce, [include_self].
Vals scatterReduce(const Call &c) {
  Emitter &e = c.e;
  Val self = c.val(0), index = c.val(2), source = c.val(3);
  if (!self || !index || !source)
    return {Val()};
  std::optional<How> how = howOf(c.text(4));
  if (!how)
    return {e.fail("scatter_reduce with " + c.text(4))};
  if (index.shape.count() == 0)
    return {self};
  bool includesSelf = c.flag(5, true);
  DType type = self.dtype() == DType::I1 ? DType::I32 : mathType(self.dtype());
  // Tensors of rank 0 are reshaped to one dim with one element.
  auto atLeastOne = [&](const Val &v) { return v.rank() ? v : e.reshape(v, {1}); };
  Val x = atLeastOne(e.convert(self, type)), updates = e.convert(source, type);
  index = atLeastOne(e.convert(index, DType::I64));
  int64_t dim = wrapDim(c.integer(1), x.rank());
  index = e.select(e.compare(index, e.like(index, 0), "LT"), e.add(index, e.like(index, double(x.dims()[dim]))), index);
  if (source.isWeak || updates.rank() == 0)
    updates = e.broadcast(updates, index.dims());
  else if (updates.dims() != index.dims())
    updates = e.slice(updates, Ints(index.rank(), 0), index.dims());
  Val place = positionsAlong(e, index, dim), kept = x;
  auto counted = [&](const Val &init) { return scatterAt(e, init, place, e.like(updates, 1), x.rank(), "stablehlo.add"); };
  Val touched;
  if (!includesSelf) {
    touched = e.compare(counted(e.like(x, 0)), e.like(x, 0), "NE");
    Val neutral = how->combine == "stablehlo.maximum"   ? e.lowest(type)
                  : how->combine == "stablehlo.minimum" ? e.highest(type)
                                                        : e.constant(how->neutral, {type, {}});
    kept = e.select(touched, e.broadcast(neutral, x.dims()), x);
  }
  Val made = scatterAt(e, kept, place, updates, x.rank(), how->combine);
  if (how->isMean) {
    Val count = maximum(e, counted(e.like(x, includesSelf ? 1 : 0)), e.like(x, 1));
    if (runtime::isFloat(type) || runtime::isComplex(type)) {
      made = e.div(made, count);
    } else { // integers are rounded down
      Val quotient = e.div(made, count), rest = e.sub(made, e.mul(quotient, count));
      made = e.select(e.compare(rest, e.like(rest, 0), "LT"), e.sub(quotient, e.like(quotient, 1)), quotient);
    }
  }
  return {finished(c, made)};
}

/// Arguments: self, size, fill_value. Computes the first positions of elements that are not zero, row-major.
Vals nonzeroStatic(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x)
    return {x};
  int64_t count = x.shape.count(), size = c.integer(1), rank = x.rank();
  Shape flat{DType::I64, {count}};
  Ints dims = {size, rank};
  if (count == 0 || size == 0 || rank == 0)
    return {e.constant(c.integer(2, -1), Shape{DType::I64, dims})};
  Val isSet = e.compare(e.reshape(x, {count}), e.constant(int64_t(0), {x.dtype(), {count}}), "NE");
  Val none = e.constant(count, flat), keys = e.select(isSet, e.iota(flat, 0), none);
  Shape scalar{DType::I64, {}};
  Val order = e.ops("stablehlo.sort", {keys}, {{"dimension", intText(0)}, {"is_stable", "false"}}, {flat}, {scalar, scalar},
                    [&](const Vals &in) { return Vals{e.compare(in[0], in[1], "LT")}; })[0];
  Val taken = size <= count ? e.slice(order, {0}, {size}) : e.pad(order, e.constant(count, scalar), {0}, {size - count});
  Vals columns;
  int64_t below = count;
  for (int64_t extent : x.dims()) {
    below /= extent;
    Val digit = e.op("stablehlo.remainder", {e.div(taken, e.like(taken, double(below))), e.like(taken, double(extent))});
    columns.push_back(e.reshape(digit, {size, 1}));
  }
  Val isThere = e.broadcastInDim(e.compare(taken, e.like(taken, double(count)), "LT"), dims, {0});
  return {e.select(isThere, e.concatenate(columns, 1), e.constant(c.integer(2, -1), Shape{DType::I64, dims}))};
}

} // namespace

void registerScatter(Registry &r) {
  r.add({"scatter_reduce.two", "scatter.reduce", "scatter.value_reduce"}, scatterReduce);
  r.add({"nonzero_static"}, nonzeroStatic);
  r.add({"copy"}, [](const Call &c) -> Vals { return {c.e.broadcast(c.e.convert(c.val(1), c.out().dtype), c.out().dims)}; });
  r.add({"polar"}, [](const Call &c) -> Vals {
    Emitter &e = c.e;
    Val size = e.broadcast(c.val(0), c.out().dims), angle = e.broadcast(c.val(1), c.out().dims);
    return {e.op("stablehlo.complex", {e.mul(size, e.op("stablehlo.cosine", {angle})), e.mul(size, e.op("stablehlo.sine", {angle}))})};
  });
}

} // namespace millrace::tracing

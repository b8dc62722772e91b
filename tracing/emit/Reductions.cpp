// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reductions.cpp - Sums, extrema, positions of extrema ----------------===//
#include "tracing/emit/Emit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

/// Returns the dims of an argument, counted from 0; all dims if the argument is absent or empty.
Ints dimsOf(const Call &c, size_t index, const Val &x) {
  Ints dims = c.ints(index);
  if (dims.empty()) {
    dims.resize(x.rank());
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (int64_t &dim : dims)
    dim = dim < 0 ? dim + x.rank() : dim;
  std::sort(dims.begin(), dims.end());
  if (x.rank() == 0)
    dims.clear();
  return dims;
}

/// Reshapes a reduced value to the result, which keeps the reduced dims as 1 or omits them.
Val shaped(const Call &c, const Val &value, size_t result = 0) { return c.e.reshape(value, c.out(result).dims); }

Val sumOver(Emitter &e, const Val &x, const Ints &dims) {
  return e.reduce(x, e.constant(int64_t(0), {x.dtype(), {}}), dims, "stablehlo.add");
}

Vals sum(const Call &c, size_t dimsAt, bool isMean) {
  Emitter &e = c.e;
  Val x = c.val(0);
  DType math = mathType(c.out().dtype);
  Ints dims = dimsOf(c, dimsAt, x);
  Val total = sumOver(e, e.convert(x, math), dims);
  if (isMean) {
    double count = 1;
    for (int64_t dim : dims)
      count *= double(x.dims()[dim]);
    total = e.div(total, e.like(total, count));
  }
  return {e.convert(shaped(c, total), c.out().dtype)};
}

/// Computes extrema; the result is NaN if an element is, because stablehlo.maximum and minimum propagate NaN.
Vals extremum(const Call &c, size_t dimsAt, bool isMax) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (x && runtime::isComplex(x.dtype()))
    return {e.fail("complex numbers have no order")};
  Val init = isMax ? e.lowest(x.dtype()) : e.highest(x.dtype());
  return {shaped(c, e.reduce(x, init, dimsOf(c, dimsAt, x), isMax ? "stablehlo.maximum" : "stablehlo.minimum"))};
}

/// Computes the least and the greatest value along one dim or of all elements.
Vals bothExtrema(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  Ints dims = dimsOf(c, 99, x);
  if (c.has(1) && x.rank())
    dims = {c.integer(1) < 0 ? c.integer(1) + x.rank() : c.integer(1)};
  return {shaped(c, e.reduce(x, e.highest(x.dtype()), dims, "stablehlo.minimum"), 0),
          shaped(c, e.reduce(x, e.lowest(x.dtype()), dims, "stablehlo.maximum"), 1)};
}

/// Computes the extrema along one dim and their first positions; NaN counts as the extremum.
Vals withPosition(Emitter &e, const Val &x, int64_t dim, bool isMax) {
  if (x && runtime::isComplex(x.dtype()))
    return {e.fail("complex numbers have no order"), Val()};
  if (x.rank() == 0)
    return {x, e.constant(int64_t(0), {DType::I64, {}})};
  Ints kept;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != dim)
      kept.push_back(x.dims()[i]);
  Shape scalar{x.dtype(), {}}, position{DType::I64, {}};
  Val positions = e.iota({DType::I64, x.dims()}, dim);
  return e.ops("stablehlo.reduce",
               {x, positions, isMax ? e.lowest(x.dtype()) : e.highest(x.dtype()), e.constant(int64_t(0), position)},
               {{"dimensions", arrayText({dim})}}, {Shape{x.dtype(), kept}, Shape{DType::I64, kept}},
               {scalar, position, scalar, position}, [&](const Vals &in) -> Vals {
                 const Val &a = in[0], &i = in[1], &b = in[2], &j = in[3];
                 Val better = e.compare(a, b, isMax ? "GT" : "LT"), equal = e.compare(a, b, "EQ");
                 if (runtime::isFloat(a.dtype())) {
                   Val aNan = e.compare(a, a, "NE"), bNan = e.compare(b, b, "NE");
                   better = e.op("stablehlo.or", {better, e.op("stablehlo.and", {aNan, e.op("stablehlo.not", {bNan})})});
                   equal = e.op("stablehlo.or", {equal, e.op("stablehlo.and", {aNan, bNan})});
                 }
                 Val first = e.op("stablehlo.or", {better, e.op("stablehlo.and", {equal, e.compare(i, j, "LT")})});
                 return {e.select(e.op("stablehlo.or", {better, equal}), a, b), e.select(first, i, j)};
               });
}

Vals argExtremum(const Call &c, bool isMax) {
  Val x = c.val(0);
  if (!c.has(1)) {
    x = c.e.reshape(x, {x.shape.count()});
    return {c.e.reshape(withPosition(c.e, x, 0, isMax)[1], c.out().dims)};
  }
  int64_t dim = c.integer(1);
  return {shaped(c, withPosition(c.e, x, dim < 0 ? dim + x.rank() : dim, isMax)[1])};
}

Vals extremumOfDim(const Call &c, bool isMax) {
  Val x = c.val(0);
  int64_t dim = c.integer(1);
  Vals made = withPosition(c.e, x, dim < 0 ? dim + x.rank() : dim, isMax);
  return {shaped(c, made[0], 0), shaped(c, made[1], 1)};
}

Vals truthOf(const Call &c, size_t dimsAt, bool isAll) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (x && x.dtype() != DType::I1)
    x = e.compare(x, e.like(x, 0), "NE");
  Val made = e.reduce(x, e.constant(int64_t(isAll), {DType::I1, {}}), dimsOf(c, dimsAt, x),
                      isAll ? "stablehlo.and" : "stablehlo.or");
  return {e.convert(shaped(c, made), c.out().dtype)};
}

Vals product(const Call &c, size_t dimsAt) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val x = e.convert(c.val(0), math);
  Val made = e.reduce(x, e.constant(int64_t(1), {math, {}}), dimsOf(c, dimsAt, x), "stablehlo.multiply");
  return {e.convert(shaped(c, made), c.out().dtype)};
}

/// Arguments: input, dims, correction, keepdim.
Vals variance(const Call &c, bool isRoot, bool withMean) {
  Emitter &e = c.e;
  Val x = c.val(0);
  bool isComplex = runtime::isComplex(x.dtype()); // the squares of absolute values are real
  x = isComplex ? x : e.convert(x, mathType(c.out().dtype));
  Ints dims = dimsOf(c, 1, x), keptDims = x.dims();
  double count = 1;
  for (int64_t dim : dims) {
    count *= double(x.dims()[dim]);
    keptDims[dim] = 1;
  }
  Val total = sumOver(e, x, dims), mean = e.div(total, e.like(total, count));
  Val centered = e.sub(x, e.broadcast(e.reshape(mean, keptDims), x.dims()));
  auto squared = [&](const Val &v) { return e.mul(v, v); };
  Val squares = isComplex ? e.add(squared(e.op("stablehlo.real", {centered})), squared(e.op("stablehlo.imag", {centered}))) : squared(centered);
  squares = sumOver(e, squares, dims);
  double degrees = std::max(0.0, count - (c.has(2) ? c.real(2) : 1));
  Val value = e.div(squares, e.like(squares, degrees));
  if (isRoot)
    value = e.op("stablehlo.sqrt", {value});
  Vals result = {e.convert(shaped(c, value), c.out().dtype)};
  if (withMean)
    result.push_back(e.convert(shaped(c, mean, 1), c.out(1).dtype));
  return result;
}

Vals norm(const Call &c) {
  // linalg_vector_norm(x, ord, dim, keepdim, dtype)
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val x = c.val(0);
  if (x && runtime::isComplex(x.dtype()))
    x = e.op("stablehlo.abs", {x});
  x = e.op("stablehlo.abs", {e.convert(x, math)});
  Ints dims = dimsOf(c, 2, x);
  double order = c.real(1, 2);
  Val made;
  if (order == 2)
    made = e.op("stablehlo.sqrt", {sumOver(e, e.mul(x, x), dims)});
  else if (order == 1)
    made = sumOver(e, x, dims);
  else if (order == 0)
    made = sumOver(e, e.convert(e.compare(x, e.like(x, 0), "NE"), math), dims);
  else if (order == INFINITY)
    made = e.reduce(x, e.constant(0.0, {math, {}}), dims, "stablehlo.maximum");
  else if (order == -INFINITY)
    made = e.reduce(x, e.highest(math), dims, "stablehlo.minimum");
  else {
    Val total = sumOver(e, e.op("stablehlo.power", {x, e.like(x, order)}), dims);
    made = e.op("stablehlo.power", {total, e.like(total, 1 / order)});
  }
  return {e.convert(shaped(c, made), c.out().dtype)};
}

Vals logSumExp(const Call &c) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val x = e.convert(c.val(0), math);
  Ints dims = dimsOf(c, 1, x), mapping;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (std::find(dims.begin(), dims.end(), i) == dims.end())
      mapping.push_back(i);
  bool isComplex = runtime::isComplex(math);
  Val size = isComplex ? e.op("stablehlo.real", {x}) : x;
  Val highest = e.reduce(size, e.lowest(size.dtype()), dims, "stablehlo.maximum");
  Val shift = e.select(e.op("stablehlo.is_finite", {highest}), highest, e.like(highest, 0)); // avoids inf - inf, which is NaN
  shift = e.convert(shift, math);
  Val scaled = e.op("stablehlo.exponential", {e.sub(x, e.broadcastInDim(shift, x.dims(), mapping))});
  Val made = e.add(e.op("stablehlo.log", {sumOver(e, scaled, dims)}), shift);
  return {e.convert(shaped(c, made), c.out().dtype)};
}

} // namespace

void registerReductions(Registry &r) {
  r.add({"sum"}, [](const Call &c) { return sum(c, 99, false); });
  r.add({"sum.dim_IntList"}, [](const Call &c) { return sum(c, 1, false); });
  r.add({"mean"}, [](const Call &c) { return sum(c, 99, true); });
  r.add({"mean.dim"}, [](const Call &c) { return sum(c, 1, true); });
  r.add({"amax"}, [](const Call &c) { return extremum(c, 1, true); });
  r.add({"amin"}, [](const Call &c) { return extremum(c, 1, false); });
  r.add({"aminmax"}, bothExtrema);
  r.add({"max"}, [](const Call &c) { return extremum(c, 99, true); });
  r.add({"min"}, [](const Call &c) { return extremum(c, 99, false); });
  r.add({"max.dim"}, [](const Call &c) { return extremumOfDim(c, true); });
  r.add({"min.dim"}, [](const Call &c) { return extremumOfDim(c, false); });
  r.add({"argmax"}, [](const Call &c) { return argExtremum(c, true); });
  r.add({"argmin"}, [](const Call &c) { return argExtremum(c, false); });
  r.add({"any"}, [](const Call &c) { return truthOf(c, 99, false); });
  r.add({"any.dim", "any.dims"}, [](const Call &c) { return truthOf(c, 1, false); });
  r.add({"all"}, [](const Call &c) { return truthOf(c, 99, true); });
  r.add({"all.dim", "all.dims"}, [](const Call &c) { return truthOf(c, 1, true); });
  r.add({"prod"}, [](const Call &c) { return product(c, 99); });
  r.add({"prod.dim_int"}, [](const Call &c) { return product(c, 1); });
  r.add({"var.correction"}, [](const Call &c) { return variance(c, false, false); }, true);
  r.add({"std.correction"}, [](const Call &c) { return variance(c, true, false); }, true);
  r.add({"var_mean.correction"}, [](const Call &c) { return variance(c, false, true); }, true);
  r.add({"std_mean.correction"}, [](const Call &c) { return variance(c, true, true); }, true);
  r.add({"linalg_vector_norm"}, norm, true);
  r.add({"logsumexp"}, logSumExp);
}

} // namespace millrace::tracing

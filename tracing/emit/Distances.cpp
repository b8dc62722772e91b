// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Distances.cpp - Distances between the rows of matrices --------------===//
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

Val sizeOf(Emitter &e, const Val &difference) { return absolute(e, difference); }
Val powered(Emitter &e, const Val &x, double exponent) { return e.op("stablehlo.power", {x, e.like(x, exponent)}); }

/// Computes the p-norm along the last dim.
Val norm(Emitter &e, const Val &difference, double p) {
  if (!difference)
    return difference;
  Ints last = {difference.rank() - 1};
  Val size = sizeOf(e, difference);
  if (p == 0)
    return total(e, e.convert(e.compare(size, e.like(size, 0), "NE"), size.dtype()), last);
  if (p == 1)
    return total(e, size, last);
  if (p == 2)
    return e.op("stablehlo.sqrt", {total(e, e.mul(size, size), last)});
  if (p == INFINITY)
    return e.reduce(size, e.constant(0.0, {size.dtype(), {}}), last, "stablehlo.maximum");
  return powered(e, total(e, powered(e, size, p), last), 1 / p);
}

/// Computes the gradient of the norm for each difference; `grad` and `distance` have the shape of `difference`.
Val normBackward(Emitter &e, const Val &grad, const Val &difference, const Val &distance, double p) {
  if (!difference)
    return difference;
  Val zero = e.like(difference, 0), sign = e.op("stablehlo.sign", {difference}), size = sizeOf(e, difference);
  Val isZero = e.compare(distance, zero, "EQ");
  if (p == 0)
    return zero;
  if (p == 1)
    return e.mul(grad, sign);
  if (p == 2)
    return e.select(isZero, zero, e.mul(grad, e.div(difference, distance)));
  if (p == INFINITY)
    return e.mul(grad, e.select(e.compare(size, distance, "EQ"), sign, zero));
  Val made = e.div(e.mul(e.mul(sign, powered(e, size, p - 1)), grad), powered(e, distance, p - 1));
  return e.select(p < 1 ? either(e, isZero, e.compare(size, zero, "EQ")) : isZero, zero, made);
}

/// Computes x1[..., i, None, :] - x2[..., None, j, :] with the batch dims of the result.
Val differences(Emitter &e, const Val &x1, const Val &x2, const Ints &batch) {
  if (!x1 || !x2)
    return {};
  Ints cube = batch, left = x1.dims(), right = x2.dims();
  cube.insert(cube.end(), {x1.dim(-2), x2.dim(-2), x1.dim(-1)});
  left.insert(left.end() - 1, 1);
  right.insert(right.end() - 2, 1);
  return e.sub(e.broadcast(e.reshape(x1, left), cube), e.broadcast(e.reshape(x2, right), cube));
}

/// Arguments: x1, x2, p.
Vals between(const Call &c) {
  Ints batch(c.out().dims.begin(), c.out().dims.end() - 2);
  return {finished(c, norm(c.e, differences(c.e, mathValue(c, 0), mathValue(c, 1), batch), c.real(2)))};
}

/// Arguments: grad, x1, x2, p, distances. Computes the gradient of x1.
Vals betweenBackward(const Call &c) {
  Emitter &e = c.e;
  Val grad = mathValue(c, 0);
  if (!grad)
    return {grad};
  Ints batch(c.out().dims.begin(), c.out().dims.end() - 2);
  Val difference = differences(e, mathValue(c, 1), mathValue(c, 2), batch);
  if (!difference)
    return {difference};
  Ints last = {difference.rank() - 1}, pairs(difference.dims().begin(), difference.dims().end() - 1);
  auto cube = [&](const Val &x) { return spreadOver(e, e.broadcast(x, pairs), last, difference.dims()); };
  Val made = normBackward(e, cube(grad), difference, cube(mathValue(c, 4)), c.real(3));
  return {finished(c, total(e, made, {difference.rank() - 2}))};
}

/// Computes the distances of the rows i < j of one matrix, in order.
Vals within(const Call &c) {
  Emitter &e = c.e;
  Val x = mathValue(c, 0);
  if (!x || c.out().count() == 0)
    return {x ? zeros(e, c.out()) : x};
  Ints first, second;
  for (int64_t i = 0; i < x.dim(0); ++i)
    for (int64_t j = i + 1; j < x.dim(0); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  Shape index{DType::I64, {int64_t(first.size())}};
  Val a = takeAlong(e, x, e.constantInts(first, index), 0), b = takeAlong(e, x, e.constantInts(second, index), 0);
  return {finished(c, norm(e, e.sub(a, b), c.real(1, 2)))};
}

/// Arguments: grad, self, p, distances. Expands both to the matrix of all pairs.
Vals withinBackward(const Call &c) {
  Emitter &e = c.e;
  Val x = mathValue(c, 1), grad = mathValue(c, 0), distance = mathValue(c, 3);
  if (!x || !grad || !distance || grad.shape.count() == 0 || x.shape.count() == 0)
    return {x ? zeros(e, c.out()) : x};
  int64_t n = x.dim(0);
  Ints place(size_t(n * n), 0);
  for (int64_t i = 0, k = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j, ++k)
      place[i * n + j] = place[j * n + i] = k;
  Val index = e.constantInts(place, {DType::I64, {n, n}});
  Ints cube = {n, n, x.dim(1)};
  Val made = normBackward(e, spreadOver(e, takeAlong(e, grad, index, 0), {2}, cube), differences(e, x, x, {}),
                          spreadOver(e, takeAlong(e, distance, index, 0), {2}, cube), c.real(2));
  Val isSelf = e.compare(e.iota({DType::I64, cube}, 0), e.iota({DType::I64, cube}, 1), "EQ");
  return {finished(c, total(e, e.select(isSelf, e.like(made, 0), made), {1}))};
}

} // namespace

void registerDistances(Registry &r) {
  r.add({"_cdist_forward"}, between);
  r.add({"_cdist_backward"}, betweenBackward);
  r.add({"_pdist_forward"}, within);
  r.add({"_pdist_backward"}, withinBackward);
}

} // namespace millrace::tracing

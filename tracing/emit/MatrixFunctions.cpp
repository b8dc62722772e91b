// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixFunctions.cpp - Exponentials of matrices, cross products ------===//
#include "tracing/emit/Matrices.h"

#include <cmath>

namespace millrace::tracing {
namespace {

using namespace matrices;

Val sumOver(Emitter &e, const Val &x, const Ints &dims) {
  return x ? e.reduce(x, e.constant(int64_t(0), {x.dtype(), {}}), dims, "stablehlo.add") : x;
}

/// Returns x * factor[...] with one factor per matrix.
Val scaled(Emitter &e, const Val &x, const Val &factor) {
  if (!x || !factor)
    return {};
  Ints mapping;
  for (int64_t i = 0; i < factor.rank(); ++i)
    mapping.push_back(i);
  return e.mul(x, e.broadcastInDim(e.convert(factor, x.dtype()), x.dims(), mapping));
}

/// Computes the matrix exponential by scaling and squaring with a Padé approximant of degree 13 (Higham 2005), in double precision. Its coefficients
/// are b[k] = (2m - k)! m! / ((2m)! (m - k)! k!), here multiplied by a constant so that b[m] is 1.
Vals exponential(const Call &c) {
  Emitter &e = c.e;
  Val a = c.val(0);
  if (!a || a.shape.count() == 0)
    return {a};
  a = e.convert(a, runtime::isComplex(a.dtype()) ? DType::C128 : DType::F64);
  constexpr int64_t degree = 13;
  constexpr double limit = 5.371920351148152;
  constexpr DType real = DType::F64;
  std::vector<double> b(degree + 1, 1);
  for (int64_t k = degree - 1; k >= 0; --k)
    b[k] = b[k + 1] * double(2 * degree - k) * double(k + 1) / double(degree - k);
  Val norm = e.reduce(sumOver(e, e.op("stablehlo.abs", {a}), {a.rank() - 2}), e.constant(int64_t(0), {real, {}}), {a.rank() - 2},
                      "stablehlo.maximum");
  Val ratio = e.div(norm, e.like(norm, limit)), zero = e.like(norm, 0);
  Val wanted = e.op("stablehlo.ceil", {e.mul(e.op("stablehlo.log", {ratio}), e.like(norm, M_LOG2E))});
  wanted = e.select(e.compare(ratio, e.like(norm, 1), "GT"), e.op("stablehlo.minimum", {wanted, e.like(norm, 1020)}), zero);
  Val shrink = e.op("stablehlo.exponential", {e.mul(e.neg(wanted), e.like(norm, M_LN2))});
  // The power of two has to be exact, because squaring would multiply its error.
  shrink = e.op("stablehlo.reduce_precision", {shrink}, {{"exponent_bits", "11 : i32"}, {"mantissa_bits", "8 : i32"}});
  Val x = scaled(e, a, shrink), square = multiply(e, x, x), one = identity(e, a.shape);
  auto times = [&](const Val &m, double by) { return e.mul(m, e.like(m, by)); };
  Val odd, even, power = one;
  for (int64_t k = 0; k <= degree; k += 2) {
    even = k ? e.add(even, times(power, b[k])) : times(power, b[k]);
    odd = k ? e.add(odd, times(power, b[k + 1])) : times(power, b[k + 1]);
    power = k ? multiply(e, power, square) : square;
  }
  odd = multiply(e, x, odd);
  Lu lu = factorize(e, e.sub(even, odd));
  Val y = solveFactorized(e, lu.factors, lu.pivots, e.add(even, odd), false);
  Ints all;
  for (int64_t i = 0; i < wanted.rank(); ++i)
    all.push_back(i);
  Val most = e.reduce(wanted, e.constant(int64_t(0), {real, {}}), all, "stablehlo.maximum");
  Val made = e.loop({e.constant(int64_t(0), most.shape), most, wanted, y},
                 [&](const Vals &in) { return e.compare(in[0], in[1], "LT"); },
                 [&](const Vals &in) -> Vals {
                   Val goesOn = e.compare(e.broadcast(in[0], in[2].dims()), in[2], "LT"), twice = multiply(e, in[3], in[3]);
                   Ints mapping;
                   for (int64_t i = 0; i < in[2].rank(); ++i)
                     mapping.push_back(i);
                   Val next = e.select(e.broadcastInDim(goesOn, twice.dims(), mapping), twice, in[3]);
                   return {e.add(in[0], e.like(in[0], 1)), in[1], in[2], next};
                 })[3];
  return {e.convert(made, c.out().dtype)};
}

/// Arguments: a, b, dim of size 3.
Vals cross(const Call &c) {
  Emitter &e = c.e;
  int64_t dim = c.integer(2, -1);
  dim = dim < 0 ? dim + int64_t(c.out().dims.size()) : dim;
  Val a = e.broadcast(e.convert(c.val(0), c.out().dtype), c.out().dims), b = e.broadcast(e.convert(c.val(1), c.out().dtype), c.out().dims);
  if (!a || !b)
    return {Val()};
  auto part = [&](const Val &v, int64_t i) { return e.sliceDim(v, dim, i % 3, i % 3 + 1); };
  Vals parts;
  for (int64_t i = 0; i < 3; ++i)
    parts.push_back(e.sub(e.mul(part(a, i + 1), part(b, i + 2)), e.mul(part(a, i + 2), part(b, i + 1))));
  return {e.concatenate(parts, dim)};
}

} // namespace

void registerMatrixFunctions(Registry &r) {
  r.add({"linalg_cross"}, cross);
  r.add({"linalg_matrix_exp"}, exponential);
}

} // namespace millrace::tracing

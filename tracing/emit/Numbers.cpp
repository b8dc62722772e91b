// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Numbers.cpp - Common divisors, exponents, bits of numbers -----------===//
#include "tracing/emit/Order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace millrace::tracing {
namespace {

using namespace order;

Val operand(const Call &c, size_t index) {
  return c.e.broadcast(c.e.convert(c.val(index), mathType(c.out().dtype)), c.out().dims);
}
Vals done(const Call &c, const Val &value) { return {c.e.convert(value, c.out().dtype)}; }

Val magnitude(Emitter &e, const Val &x) { return x && runtime::isSigned(x.dtype()) ? e.op("stablehlo.abs", {x}) : x; }

/// Computes the greatest common divisor by Euclid's algorithm on all elements at once, until every remainder is 0.
Val divisor(Emitter &e, const Val &a, const Val &b) {
  if (!a || !b || a.shape.count() == 0)
    return a;
  Ints all(a.rank());
  std::iota(all.begin(), all.end(), 0);
  return e.loop({magnitude(e, a), magnitude(e, b)},
                [&](const Vals &in) {
                  Val rest = e.compare(in[1], e.like(in[1], 0), "NE");
                  return e.reduce(rest, e.constant(int64_t(0), {DType::I1, {}}), all, "stablehlo.or");
                },
                [&](const Vals &in) -> Vals {
                  Val isZero = e.compare(in[1], e.like(in[1], 0), "EQ");
                  Val rest = e.op("stablehlo.remainder", {in[0], e.select(isZero, e.like(in[1], 1), in[1])});
                  return {e.select(isZero, in[0], in[1]), e.select(isZero, in[1], rest)};
                })[0];
}

Vals multiple(const Call &c) {
  Emitter &e = c.e;
  Val a = operand(c, 0), b = operand(c, 1), common = divisor(e, a, b);
  if (!common)
    return {common};
  Val isZero = e.compare(common, e.like(common, 0), "EQ");
  return done(c, magnitude(e, e.mul(e.div(a, e.select(isZero, e.like(common, 1), common)), b)));
}

/// Computes x = mantissa * 2^exponent with a mantissa in [0.5, 1); zero, infinities and NaN have the exponent 0.
Vals mantissaAndExponent(const Call &c) {
  Emitter &e = c.e;
  Val x = e.convert(c.val(0), mathType(c.out().dtype));
  if (!x || !runtime::isFloat(x.dtype()))
    return Vals(2, e.fail("mantissas of this type are not supported"));
  bool isDouble = x.dtype() == DType::F64;
  DType bits = isDouble ? DType::I64 : DType::I32;
  int64_t digits = isDouble ? 52 : 23, mask = isDouble ? 0x7ff : 0xff, bias = isDouble ? 1022 : 126;
  auto raw = [&](const Val &v) { return e.op("stablehlo.bitcast_convert", {v}, {}, Shape{bits, v.dims()}); };
  auto constant = [&](int64_t value) { return e.constant(value, {bits, x.dims()}); };
  // Subnormal numbers are first multiplied by a power of two that makes them normal.
  Val first = e.op("stablehlo.and", {e.op("stablehlo.shift_right_logical", {raw(x), constant(digits)}), constant(mask)});
  Val isZero = e.compare(x, e.like(x, 0), "EQ");
  Val isSmall = e.op("stablehlo.and", {e.compare(first, constant(0), "EQ"), e.op("stablehlo.not", {isZero})});
  Val y = e.select(isSmall, e.mul(x, e.like(x, std::ldexp(1.0, int(digits) + 1))), x);
  Val pattern = raw(y);
  Val field = e.op("stablehlo.and", {e.op("stablehlo.shift_right_logical", {pattern, constant(digits)}), constant(mask)});
  Val exponent = e.sub(field, e.select(isSmall, constant(bias + digits + 1), constant(bias)));
  Val cleared = e.op("stablehlo.and", {pattern, constant(~(mask << digits))});
  Val half = e.op("stablehlo.or", {cleared, constant(bias << digits)});
  Val mantissa = e.op("stablehlo.bitcast_convert", {half}, {}, Shape{x.dtype(), x.dims()});
  Val special = e.op("stablehlo.or", {isZero, e.op("stablehlo.not", {e.op("stablehlo.is_finite", {x})})});
  return {e.convert(e.select(special, x, mantissa), c.out().dtype), e.convert(e.select(special, constant(0), exponent), c.out(1).dtype)};
}

/// Computes the arguments of complex numbers; those of real numbers are 0 or pi.
Vals angle(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x)
    return {x};
  if (runtime::isComplex(x.dtype()))
    return {e.op("stablehlo.atan2", {e.op("stablehlo.imag", {x}), e.op("stablehlo.real", {x})})};
  x = operand(c, 0);
  Val made = e.select(e.compare(x, e.like(x, 0), "LT"), e.like(x, M_PI), e.like(x, 0));
  return done(c, runtime::isFloat(x.dtype()) ? e.select(isNan(e, x), x, made) : made);
}

Vals isInfinity(const Call &c, double which) {
  Val x = c.val(0);
  if (!x || !runtime::isFloat(x.dtype()))
    return {c.e.constant(int64_t(0), c.out())};
  return {c.e.compare(x, c.e.like(x, which), "EQ")};
}

/// Arguments: self, dim, keepdim, mode. Computes the exclusive or of all elements as 64-bit integers; floats are read as the bits of a double.
Vals hash(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x || runtime::isComplex(x.dtype()))
    return {e.fail("hashes of complex numbers are not supported")};
  x = e.convert(x, runtime::isFloat(x.dtype()) ? DType::F64 : DType::I64);
  x = e.op("stablehlo.bitcast_convert", {x}, {}, Shape{DType::U64, x.dims()});
  Ints dims = c.ints(1);
  for (int64_t &dim : dims)
    dim = dimOf(dim, x.rank());
  if (dims.empty())
    for (int64_t i = 0; i < x.rank(); ++i)
      dims.push_back(i);
  if (x.rank() == 0)
    dims.clear();
  std::sort(dims.begin(), dims.end());
  return {e.reshape(e.reduce(x, e.constant(int64_t(0), {DType::U64, {}}), dims, "stablehlo.xor"), c.out().dims)};
}

} // namespace

void registerNumbers(Registry &r) {
  r.add({"gcd"}, [](const Call &c) { return done(c, divisor(c.e, operand(c, 0), operand(c, 1))); });
  r.add({"lcm"}, multiple);
  r.add({"hash_tensor"}, hash);
  r.add({"frexp.Tensor"}, mantissaAndExponent);
  r.add({"angle"}, angle);
  r.add({"isposinf"}, [](const Call &c) { return isInfinity(c, INFINITY); });
  r.add({"isneginf"}, [](const Call &c) { return isInfinity(c, -INFINITY); });
  r.add({"frac"}, [](const Call &c) {
    Emitter &e = c.e;
    Val x = operand(c, 0);
    Val whole = e.select(e.compare(x, e.like(x, 0), "LT"), e.op("stablehlo.ceil", {x}), e.op("stablehlo.floor", {x}));
    return done(c, e.sub(x, whole));
  });
  r.add({"heaviside"}, [](const Call &c) {
    Emitter &e = c.e;
    Val x = operand(c, 0), values = operand(c, 1), zero = e.like(x, 0);
    Val step = e.select(e.compare(x, zero, "GT"), e.like(x, 1), zero);
    return done(c, e.select(e.compare(x, zero, "EQ"), values, step));
  });
}

} // namespace millrace::tracing

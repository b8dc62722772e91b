// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gamma.cpp - Regularized incomplete gamma functions ------------------===//
// P(a, x) is computed by its power series where x <= max(a, 1), and Q(a, x) = 1 - P by its continued fraction elsewhere. Both run in double precision
// and on all elements at once until none changes (DLMF 8.11.4 and 8.9.2, evaluated by Lentz's method).
#include "tracing/emit/Gamma.h"

#include "tracing/emit/Order.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace millrace::tracing {
namespace {

using namespace order;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int64_t mostSteps = 2000;

/// Returns true if any element is not zero.
Val any(Emitter &e, const Val &flags) {
  Ints all(flags.rank());
  std::iota(all.begin(), all.end(), 0);
  return e.reduce(flags, e.constant(int64_t(0), {DType::I1, {}}), all, "stablehlo.or");
}

Val goesOn(Emitter &e, const Val &step, const Val &unfinished) {
  return e.op("stablehlo.and", {e.compare(step, e.constant(mostSteps, step.shape), "LT"), any(e, unfinished)});
}

/// Computes the sum over n of x^n / ((a + 1) ... (a + n)).
Val series(Emitter &e, const Val &a, const Val &x) {
  Val one = e.like(a, 1), all = e.constant(int64_t(1), {DType::I1, a.dims()});
  return e.loop({e.constant(int64_t(1), {DType::I64, {}}), all, a, x, one, one},
                [&](const Vals &in) { return goesOn(e, in[0], in[1]); },
                [&](const Vals &in) -> Vals {
                  Val n = e.broadcast(e.convert(in[0], DType::F64), in[2].dims());
                  Val term = e.mul(in[4], e.div(in[3], e.add(in[2], n))), total = e.add(in[5], term);
                  Val more = e.compare(term, e.mul(total, e.like(total, epsilon)), "GT");
                  return {e.add(in[0], e.like(in[0], 1)), more, in[2], in[3], term, total};
                })[5];
}

/// Computes 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)).
Val fraction(Emitter &e, const Val &a, const Val &x) {
  Val one = e.like(a, 1), all = e.constant(int64_t(1), {DType::I1, a.dims()});
  auto nonzero = [&](const Val &v) { return e.select(e.compare(v, e.like(v, 0), "EQ"), e.like(v, 1e-300), v); };
  Val first = e.div(one, nonzero(e.sub(e.add(x, one), a)));
  return e.loop({e.constant(int64_t(1), {DType::I64, {}}), all, a, x, e.like(a, 1e300), first, first},
                [&](const Vals &in) { return goesOn(e, in[0], in[1]); },
                [&](const Vals &in) -> Vals {
                  Val n = e.broadcast(e.convert(in[0], DType::F64), in[2].dims()), two = e.like(n, 2), unit = e.like(n, 1);
                  Val numerator = e.mul(e.neg(n), e.sub(n, in[2]));
                  Val base = e.add(e.sub(e.add(in[3], unit), in[2]), e.mul(two, n));
                  Val c = nonzero(e.add(base, e.div(numerator, in[4])));
                  Val d = e.div(unit, nonzero(e.add(base, e.mul(numerator, in[5]))));
                  Val factor = e.mul(c, d), more = e.compare(e.op("stablehlo.abs", {e.sub(factor, unit)}), e.like(n, epsilon), "GT");
                  return {e.add(in[0], e.like(in[0], 1)), more, in[2], in[3], c, d, e.mul(in[6], factor)};
                })[6];
}

Val both(Emitter &e, const Val &p, const Val &q) { return e.op("stablehlo.and", {p, q}); }

} // namespace

Val digamma(Emitter &e, const Val &x) {
  return e.select(e.compare(x, e.like(x, 0), "EQ"), e.div(e.like(x, 1), e.neg(x)), e.op("chlo.digamma", {x}));
}

IncompleteGamma incompleteGamma(Emitter &e, const Val &a, const Val &x) {
  Val zero = e.like(a, 0), one = e.like(a, 1), infinity = e.like(a, INFINITY);
  Val isRegular = both(e, both(e, e.compare(a, zero, "GT"), e.compare(x, zero, "GT")),
                       both(e, e.compare(a, infinity, "LT"), e.compare(x, infinity, "LT")));
  Val usesFraction = both(e, isRegular, both(e, e.compare(x, one, "GT"), e.compare(x, a, "GT")));
  Val usesSeries = both(e, isRegular, e.op("stablehlo.not", {usesFraction}));
  // The common factor is x^a e^-x / gamma(a). Elements of the other method get operands for which this one ends at once.
  Val b = e.select(isRegular, a, one), y = e.select(isRegular, x, one);
  Val weight = e.op("stablehlo.exponential", {e.sub(e.sub(e.mul(b, e.op("stablehlo.log", {y})), y), e.op("chlo.lgamma", {b}))});
  Val lower = e.div(e.mul(weight, series(e, b, e.select(usesSeries, y, zero))), b);
  Val upper = e.mul(weight, fraction(e, e.select(usesFraction, b, zero), e.select(usesFraction, y, e.like(a, 1e6))));
  return {e.select(usesFraction, e.sub(one, upper), lower), e.select(usesFraction, upper, e.sub(one, lower))};
}

namespace {

Vals atEveryPoint(const Call &c, bool isUpper) {
  Emitter &e = c.e;
  if (!runtime::isFloat(c.out().dtype))
    return {e.fail("incomplete gamma functions of this type are not supported")};
  auto operand = [&](size_t i) { return e.broadcast(e.convert(c.val(i), DType::F64), c.out().dims); };
  Val a = operand(0), x = operand(1);
  if (!a || !x || a.shape.count() == 0)
    return {e.convert(a, c.out().dtype)};
  IncompleteGamma values = incompleteGamma(e, a, x);
  Val made = isUpper ? values.upper : values.lower, zero = e.like(a, 0), one = e.like(a, 1), infinity = e.like(a, INFINITY);
  // P is 0 at x = 0 and for a = inf, and 1 at x = inf and for a = 0. It is NaN where two of these conflict, and for negative operands.
  auto is = [&](const Val &v, const Val &w) { return e.compare(v, w, "EQ"); };
  auto either = [&](const Val &v, const Val &w) { return e.op("stablehlo.or", {v, w}); };
  made = e.select(either(is(x, zero), is(a, infinity)), isUpper ? one : zero, made);
  made = e.select(either(is(x, infinity), is(a, zero)), isUpper ? zero : one, made);
  Val undefined = either(either(both(e, is(a, zero), is(x, zero)), both(e, is(a, infinity), is(x, infinity))),
                         either(e.compare(a, zero, "LT"), e.compare(x, zero, "LT")));
  undefined = either(undefined, either(isNan(e, a), isNan(e, x)));
  return {e.convert(e.select(undefined, e.like(a, NAN), made), c.out().dtype)};
}

} // namespace

void registerGamma(Registry &r) {
  r.add({"igamma"}, [](const Call &c) { return atEveryPoint(c, false); });
  r.add({"igammac"}, [](const Call &c) { return atEveryPoint(c, true); });
}

} // namespace millrace::tracing

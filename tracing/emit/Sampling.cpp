// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sampling.cpp - Gamma, Poisson and binomial random numbers -----------===//
// Numbers are drawn by rejection, on all elements at once until each has been accepted; accepted elements keep their value. Everything is computed in
// double precision, because the acceptance depends on differences of logarithms of factorials.
#include "tracing/emit/Families.h"
#include "tracing/emit/Gamma.h"

#include <cmath>

namespace millrace::tracing {
namespace {

constexpr int64_t mostRounds = 10000; // a round accepts more than half of the elements

/// Uniform numbers in (0, 1), and the generator's next state.
struct Draw {
  Val state;
  Vals values;
};
Draw draw(Emitter &e, const Val &state, const Ints &dims, int64_t count) {
  Ints all = dims;
  all.insert(all.begin(), count);
  Vals made = e.ops("stablehlo.rng_bit_generator", {state}, {{"rng_algorithm", "#stablehlo<rng_algorithm THREE_FRY>"}},
                    {Shape{DType::U64, {2}}, Shape{DType::U64, all}});
  Draw result{made[0], {}};
  Val high = e.op("stablehlo.shift_right_logical", {made[1], e.constant(int64_t(12), {DType::U64, all})});
  Val x = e.convert(high, DType::F64);
  x = e.mul(e.add(x, e.like(x, 0.5)), e.like(x, 0x1p-52));
  for (int64_t i = 0; i < count; ++i)
    result.values.push_back(e.reshape(e.sliceDim(x, 0, i, i + 1), dims));
  return result;
}

Val firstState(const Call &c) {
  Emitter &e = c.e;
  Val key = e.op("stablehlo.bitcast_convert", {e.convert(c.val(0), DType::I64)}, {}, Shape{DType::U64, {}});
  return e.concatenate({e.reshape(key, {1}), e.constant(int64_t(0), {DType::U64, {1}})}, 0);
}

Val lnGamma(Emitter &e, const Val &x) { return e.op("chlo.lgamma", {x}); }
Val root(Emitter &e, const Val &x) { return e.op("stablehlo.sqrt", {x}); }
Val floorOf(Emitter &e, const Val &x) { return e.op("stablehlo.floor", {x}); }
Val times(Emitter &e, const Val &x, double factor) { return e.mul(x, e.like(x, factor)); }
Val plus(Emitter &e, const Val &x, double term) { return e.add(x, e.like(x, term)); }

/// Makes a proposal from uniform numbers and the parameters: a value, and whether it is accepted.
using Propose = std::function<std::pair<Val, Val>(const Vals &uniforms, const Vals &parameters)>;

/// Returns the first accepted proposal of each element. The parameters have the dims of the result.
std::pair<Val, Val> firstAccepted(Emitter &e, const Val &state, const Vals &parameters, int64_t uniforms, const Propose &propose) {
  if (!state || !parameters[0])
    return {};
  const Ints dims = parameters[0].dims();
  Vals initial = {e.constant(int64_t(0), {DType::I64, {}}), state, e.constant(int64_t(0), {DType::I1, dims}), e.like(parameters[0], 0)};
  initial.insert(initial.end(), parameters.begin(), parameters.end());
  auto goesOn = [&](const Vals &in) {
    Val open = e.reduce(negated(e, in[2]), e.constant(int64_t(0), {DType::I1, {}}), countFrom(0, int64_t(dims.size())), "stablehlo.or");
    return both(e, e.compare(in[0], e.constant(mostRounds, in[0].shape), "LT"), open);
  };
  Vals made = e.loop(initial, goesOn, [&](const Vals &in) -> Vals {
    Draw drawn = draw(e, in[1], dims, uniforms);
    auto [value, accepted] = propose(drawn.values, Vals(in.begin() + 4, in.end()));
    Vals out = {plus(e, in[0], 1), drawn.state, either(e, in[2], accepted), e.select(in[2], in[3], value)};
    out.insert(out.end(), in.begin() + 4, in.end());
    return out;
  });
  return {made[3], made[1]};
}

/// Draws by inversion from a distribution on 0, 1, 2, ... with few likely values: counts the partial sums below a uniform number, of terms that begin
/// with `first` and whose quotients are ratio(k) / k.
Val inverted(Emitter &e, const Val &state, const Val &first, const Vals &parameters,
             const std::function<Val(const Val &k, const Vals &)> &ratio) {
  Val level = draw(e, state, first.dims(), 1).values[0];
  Vals initial = {e.constant(int64_t(0), {DType::I64, {}}), level, first, first, e.like(first, 0)};
  initial.insert(initial.end(), parameters.begin(), parameters.end());
  auto isOpen = [&](const Vals &in) { return both(e, e.compare(in[1], in[3], "GT"), e.compare(in[2], e.like(in[2], 0), "GT")); };
  auto goesOn = [&](const Vals &in) {
    Val open = e.reduce(isOpen(in), e.constant(int64_t(0), {DType::I1, {}}), countFrom(0, in[1].rank()), "stablehlo.or");
    return both(e, e.compare(in[0], e.constant(int64_t(1000), in[0].shape), "LT"), open);
  };
  return e.loop(initial, goesOn, [&](const Vals &in) -> Vals {
    Val open = isOpen(in), k = e.select(open, plus(e, in[4], 1), in[4]);
    Val term = e.select(open, e.div(e.mul(in[2], ratio(k, Vals(in.begin() + 5, in.end()))), k), in[2]);
    Vals out = {plus(e, in[0], 1), in[1], term, e.select(open, e.add(in[3], term), in[3]), k};
    out.insert(out.end(), in.begin() + 5, in.end());
    return out;
  })[4];
}

Val parameterOf(const Call &c, size_t index) { return c.e.broadcast(c.e.convert(c.val(index), DType::F64), c.out().dims); }

/// Arguments: key, concentration. Method of Marsaglia and Tsang (2000): a transformed normal number; for a concentration below 1 the number for
/// concentration + 1, times a power of a uniform one.
Vals standardGamma(const Call &c) {
  Emitter &e = c.e;
  Val alpha = parameterOf(c, 1);
  if (!alpha || c.out().count() == 0)
    return {e.convert(alpha, c.out().dtype)};
  Val isSmall = e.compare(alpha, e.like(alpha, 1), "LT"), shape = e.select(isSmall, plus(e, alpha, 1), alpha);
  Draw boost = draw(e, firstState(c), alpha.dims(), 1);
  Val d = plus(e, shape, -1.0 / 3);
  Val scaled = firstAccepted(e, boost.state, {d}, 2, [&](const Vals &u, const Vals &in) {
    Val x = times(e, e.op("chlo.erf_inv", {plus(e, times(e, u[0], 2), -1)}), M_SQRT2);
    Val base = plus(e, e.div(x, root(e, times(e, in[0], 9))), 1), cube = e.mul(e.mul(base, base), base);
    Val limit = e.add(times(e, e.mul(x, x), 0.5), e.mul(in[0], e.add(e.sub(e.like(x, 1), cube), logarithm(e, cube))));
    Val accepted = both(e, e.compare(base, e.like(base, 0), "GT"), e.compare(logarithm(e, u[1]), limit, "LT"));
    return std::pair{cube, accepted};
  }).first;
  Val made = e.mul(d, scaled);
  made = e.select(isSmall, e.mul(made, exponential(e, e.div(logarithm(e, boost.values[0]), alpha))), made);
  double least = c.out().dtype == DType::F64 ? 0x1p-1022 : 0x1p-126; // never 0, because users take its logarithm
  return {e.convert(maximum(e, made, e.like(made, least)), c.out().dtype)};
}

/// Arguments: alpha, sample. Computes the derivative of the sample by alpha at a constant value of the distribution function F: -(dF/dalpha) /
/// density. The difference quotient uses the smaller tail of F, which avoids cancellation.
Vals standardGammaGradient(const Call &c) {
  Emitter &e = c.e;
  Val a = parameterOf(c, 0), x = parameterOf(c, 1);
  if (!a || c.out().count() == 0)
    return {e.convert(a, c.out().dtype)};
  Val step = times(e, a, 1e-4);
  IncompleteGamma above = incompleteGamma(e, e.add(a, step), x), below = incompleteGamma(e, e.sub(a, step), x);
  Val isUpper = e.compare(x, a, "GT");
  Val change = e.select(isUpper, e.sub(below.upper, above.upper), e.sub(above.lower, below.lower));
  Val density = exponential(e, e.sub(e.sub(e.mul(plus(e, a, -1), logarithm(e, x)), x), lnGamma(e, a)));
  return {e.convert(e.neg(e.div(change, e.mul(times(e, step, 2), density))), c.out().dtype)};
}

/// Arguments: key, rate. Rates below 10 are drawn by inversion, others by Hörmann's transformed rejection (PTRS, 1993).
Vals poisson(const Call &c) {
  Emitter &e = c.e;
  Val rate = parameterOf(c, 1);
  if (!rate || c.out().count() == 0)
    return {e.convert(rate, c.out().dtype)};
  Val isSmall = e.compare(rate, e.like(rate, 10), "LT"), low = minimum(e, rate, e.like(rate, 10)), high = maximum(e, rate, e.like(rate, 10));
  auto [large, state] = firstAccepted(e, firstState(c), {high}, 2, [&](const Vals &u, const Vals &in) {
    const Val &mean = in[0];
    Val b = plus(e, times(e, root(e, mean), 2.53), 0.931), a = plus(e, times(e, b, 0.02483), -0.059);
    Val inverse = plus(e, e.div(e.like(b, 1.1328), plus(e, b, -3.4)), 1.1239), sure = e.sub(e.like(b, 0.9277), e.div(e.like(b, 3.6224), plus(e, b, -2)));
    Val v = plus(e, u[0], -0.5), rest = e.sub(e.like(v, 0.5), absolute(e, v));
    Val k = floorOf(e, plus(e, e.add(e.mul(e.add(e.div(times(e, a, 2), rest), b), v), mean), 0.43));
    Val isSure = both(e, e.compare(rest, e.like(rest, 0.07), "GE"), e.compare(u[1], sure, "LE"));
    Val isOut = either(e, e.compare(k, e.like(k, 0), "LT"), both(e, e.compare(rest, e.like(rest, 0.013), "LT"), e.compare(u[1], rest, "GT")));
    Val height = e.sub(e.add(logarithm(e, u[1]), logarithm(e, inverse)), logarithm(e, e.add(e.div(a, e.mul(rest, rest)), b)));
    Val limit = e.sub(e.sub(e.mul(k, logarithm(e, mean)), mean), lnGamma(e, plus(e, maximum(e, k, e.like(k, 0)), 1)));
    return std::pair{k, either(e, isSure, both(e, negated(e, isOut), e.compare(height, limit, "LE")))};
  });
  Val small = inverted(e, state, exponential(e, e.neg(low)), {low}, [](const Val &, const Vals &in) { return in[0]; });
  return {e.convert(e.select(isSmall, small, large), c.out().dtype)};
}

/// Arguments: key, count, probability. Draws the number of the less likely outcome: for a mean below 10 by inversion, else by Hörmann's transformed
/// rejection (BTRS, 1993).
Vals binomial(const Call &c) {
  Emitter &e = c.e;
  Val count = parameterOf(c, 1), given = parameterOf(c, 2);
  if (!count || !given || c.out().count() == 0)
    return {e.convert(count, c.out().dtype)};
  Val isFlipped = e.compare(given, e.like(given, 0.5), "GT"), p = e.select(isFlipped, e.sub(e.like(given, 1), given), given);
  Val isSmall = e.compare(e.mul(count, p), e.like(p, 10), "LT");
  Val n = e.select(isSmall, e.like(count, 40), count), chance = e.select(isSmall, e.like(p, 0.5), p); // elements of the other method
  auto [large, state] = firstAccepted(e, firstState(c), {n, chance}, 2, [&](const Vals &u, const Vals &in) {
    const Val &n = in[0], &p = in[1];
    Val q = e.sub(e.like(p, 1), p), deviation = root(e, e.mul(e.mul(n, p), q));
    Val b = plus(e, times(e, deviation, 2.53), 1.15), a = e.add(plus(e, times(e, b, 0.0248), -0.0873), times(e, p, 0.01));
    Val sure = e.sub(e.like(b, 0.92), e.div(e.like(b, 4.2), b)), factor = e.mul(plus(e, e.div(e.like(b, 5.1), b), 2.83), deviation);
    Val v = plus(e, u[0], -0.5), rest = e.sub(e.like(v, 0.5), absolute(e, v));
    Val k = floorOf(e, plus(e, e.add(e.mul(e.add(e.div(times(e, a, 2), rest), b), v), e.mul(n, p)), 0.5));
    Val isSure = both(e, e.compare(rest, e.like(rest, 0.07), "GE"), e.compare(u[1], sure, "LE"));
    Val isIn = both(e, e.compare(k, e.like(k, 0), "GE"), e.compare(k, n, "LE"));
    Val inside = e.op("stablehlo.clamp", {e.like(k, 0), k, n}), mode = floorOf(e, e.mul(plus(e, n, 1), p));
    Val height = logarithm(e, e.div(e.mul(u[1], factor), e.add(e.div(a, e.mul(rest, rest)), b)));
    auto factorials = [&](const Val &at) { return e.add(lnGamma(e, plus(e, at, 1)), lnGamma(e, plus(e, e.sub(n, at), 1))); };
    Val limit = e.add(e.sub(factorials(mode), factorials(inside)), e.mul(e.sub(inside, mode), logarithm(e, e.div(p, q))));
    return std::pair{k, both(e, isIn, either(e, isSure, e.compare(height, limit, "LE")))};
  });
  n = e.select(isSmall, count, e.like(count, 0)); // the other elements end at once
  Val q = e.sub(e.like(p, 1), p), odds = e.div(p, q);
  Val first = exponential(e, e.mul(n, e.op("stablehlo.log_plus_one", {e.neg(p)})));
  Val small = inverted(e, state, first, {n, odds}, [&](const Val &k, const Vals &in) {
    return e.mul(maximum(e, plus(e, e.sub(in[0], k), 1), e.like(k, 0)), in[1]);
  });
  Val made = e.select(isSmall, minimum(e, small, n), large);
  return {e.convert(e.select(isFlipped, e.sub(count, made), made), c.out().dtype)};
}

} // namespace

void registerSampling(Registry &r) {
  r.add({"millrace::standard_gamma"}, standardGamma);
  r.add({"_standard_gamma_grad"}, standardGammaGradient);
  r.add({"millrace::poisson"}, poisson);
  r.add({"millrace::binomial"}, binomial);
}

} // namespace millrace::tracing

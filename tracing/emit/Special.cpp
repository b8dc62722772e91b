// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Special.cpp - torch.special: Bessel, Airy, error functions ----------===//
#include "tracing/emit/Families.h"
#include "tracing/emit/Gamma.h"
#include "tracing/emit/SpecialCoefficients.h"

#include <cmath>

namespace millrace::tracing {
namespace {

using namespace special;
using Coefficients = std::vector<double>;
using Unary = std::function<Val(Emitter &, const Val &)>;

/// Evaluates a Chebyshev series by Clenshaw's recurrence, without the terms that are too small for the type of t.
Val chebyshev(Emitter &e, const Val &t, const Coefficients &coefficients) {
  if (!t)
    return t;
  double largest = 0, least = t.dtype() == DType::F64 ? 1e-17 : 1e-9;
  for (double c : coefficients)
    largest = std::max(largest, std::abs(c));
  size_t count = coefficients.size();
  while (count > 1 && std::abs(coefficients[count - 1]) < least * largest)
    --count;
  Val twice = e.add(t, t), next = e.like(t, coefficients[count - 1]), beyond = e.like(t, 0);
  for (size_t i = count - 1; i-- > 1;) {
    Val now = e.add(e.sub(e.mul(twice, next), beyond), e.like(t, coefficients[i]));
    beyond = next;
    next = now;
  }
  if (count == 1)
    return next;
  return e.add(e.sub(e.mul(t, next), beyond), e.like(t, coefficients[0]));
}

/// Maps x in [low, high] to t in [-1, 1].
Val mapped(Emitter &e, const Val &x, double low, double high) {
  return e.sub(e.mul(x, e.like(x, 2 / (high - low))), e.like(x, (high + low) / (high - low)));
}
Val over(Emitter &e, double numerator, const Val &x) { return e.div(e.like(x, numerator), x); }
Val root(Emitter &e, const Val &x) { return e.op("stablehlo.sqrt", {x}); }
Val isLess(Emitter &e, const Val &x, double limit) { return e.compare(x, e.like(x, limit), "LT"); }
Val is(Emitter &e, const Val &x, double value) { return e.compare(x, e.like(x, value), "EQ"); }
Val times(Emitter &e, const Val &x, double factor) { return e.mul(x, e.like(x, factor)); }

Val i0e(Emitter &e, const Val &x) {
  Val size = absolute(e, x);
  Val small = chebyshev(e, mapped(e, size, 0, 8), kI0eSmall);
  Val large = e.div(chebyshev(e, mapped(e, over(e, 8, size), 0, 1), kI0eLarge), root(e, size));
  return e.select(isLess(e, size, 8), small, large);
}
Val i1e(Emitter &e, const Val &x) { return e.op("chlo.bessel_i1e", {x}); }
Val i0(Emitter &e, const Val &x) { return e.mul(exponential(e, absolute(e, x)), i0e(e, x)); }
Val i1(Emitter &e, const Val &x) { return e.mul(exponential(e, absolute(e, x)), i1e(e, x)); }

/// Computes K0 or K1, with `isScaled` times e^x.
Val modifiedK(Emitter &e, const Val &x, int order, bool isScaled) {
  Val square = mapped(e, e.mul(x, x), 0, 4), inverse = mapped(e, over(e, 2, x), 0, 1);
  Val logHalf = logarithm(e, times(e, x, 0.5)), small, large;
  if (order == 0) {
    small = e.sub(chebyshev(e, square, kK0Small), e.mul(logHalf, i0(e, x)));
    large = chebyshev(e, inverse, kK0Large);
  } else {
    small = e.add(e.div(chebyshev(e, square, kK1Small), x), e.mul(logHalf, i1(e, x)));
    large = chebyshev(e, inverse, kK1Large);
  }
  large = e.div(large, root(e, x));
  if (isScaled)
    small = e.mul(small, exponential(e, x));
  else
    large = e.mul(large, exponential(e, e.neg(x)));
  Val value = e.select(e.compare(x, e.like(x, 2), "LE"), small, large);
  value = e.select(is(e, x, 0), e.like(x, INFINITY), value);
  return e.select(isLess(e, x, 0), e.like(x, NAN), value);
}

/// Computes J or Y of order 0 or 1 for x > 8: sqrt(2 / (pi x)) times a combination of cosine and sine with slowly varying coefficients.
Val wave(Emitter &e, const Val &x, int order, bool isSecondKind) {
  Val u = over(e, 8, x), t = mapped(e, e.mul(u, u), 0, 1);
  Val p = chebyshev(e, t, order ? kWave1 : kWave0);
  Val q = e.div(chebyshev(e, t, order ? kWave1Side : kWave0Side), x);
  // The cosine and sine of x - pi / 4, or x - 3 pi / 4, are computed from those of x, because the subtraction from a large x would round.
  Val cosine = e.op("stablehlo.cosine", {x}), sine = e.op("stablehlo.sine", {x});
  Val sum = times(e, e.add(cosine, sine), M_SQRT1_2), difference = times(e, e.sub(sine, cosine), M_SQRT1_2);
  Val c = order ? difference : sum, s = order ? e.neg(sum) : difference;
  Val value = isSecondKind ? e.add(e.mul(p, s), e.mul(q, c)) : e.sub(e.mul(p, c), e.mul(q, s));
  return e.mul(value, root(e, over(e, 2 / M_PI, x)));
}

Val j0(Emitter &e, const Val &x) {
  Val size = absolute(e, x), square = mapped(e, e.mul(size, size), 0, 64);
  return e.select(isLess(e, size, 8), chebyshev(e, square, kJ0Small), wave(e, size, 0, false));
}
Val j1(Emitter &e, const Val &x) {
  Val size = absolute(e, x), square = mapped(e, e.mul(size, size), 0, 64);
  Val value = e.select(isLess(e, size, 8), e.mul(size, chebyshev(e, square, kJ1Small)), wave(e, size, 1, false));
  return e.select(isLess(e, x, 0), e.neg(value), value);
}
Val secondKind(Emitter &e, const Val &x, int order) {
  Val square = mapped(e, e.mul(x, x), 0, 64), log = logarithm(e, x), small;
  if (order == 0)
    small = e.add(chebyshev(e, square, kY0Small), times(e, e.mul(log, j0(e, x)), 2 / M_PI));
  else
    small = e.add(e.mul(x, chebyshev(e, square, kY1Small)), times(e, e.sub(e.mul(log, j1(e, x)), over(e, 1, x)), 2 / M_PI));
  Val value = e.select(isLess(e, x, 8), small, wave(e, x, order, true));
  value = e.select(is(e, x, 0), e.like(x, -INFINITY), value);
  return e.select(isLess(e, x, 0), e.like(x, NAN), value);
}

Val sphericalJ0(Emitter &e, const Val &x) {
  Val square = e.mul(x, x), series = e.like(x, 1), term = e.like(x, 1);
  for (int k = 1; k < 8; ++k) {
    term = times(e, e.mul(term, square), -1.0 / (2 * k * (2 * k + 1)));
    series = e.add(series, term);
  }
  Val value = e.select(isLess(e, absolute(e, x), 0.5), series, e.div(e.op("stablehlo.sine", {x}), x));
  return e.select(is(e, absolute(e, x), INFINITY), e.like(x, 0), value);
}

Val airy(Emitter &e, const Val &x) {
  const double limit = 2 * std::pow(2.0, 1.5) / 3; // zeta at 2, the end of the middle interval
  Val size = absolute(e, x), fourth = root(e, root(e, size)), zeta = times(e, e.mul(size, root(e, size)), 2.0 / 3);
  Val ratio = over(e, limit, zeta);
  Val decaying = e.div(e.mul(chebyshev(e, mapped(e, ratio, 0, 1), kAiryLarge), exponential(e, e.neg(zeta))),
                       times(e, fourth, 2 * std::sqrt(M_PI)));
  Val square = mapped(e, e.mul(ratio, ratio), 0, 1);
  Val p = chebyshev(e, square, kAiryWave), q = e.div(chebyshev(e, square, kAiryWaveSide), zeta);
  Val angle = e.add(zeta, e.like(x, M_PI_4));
  Val swinging = e.div(e.sub(e.mul(p, e.op("stablehlo.sine", {angle})), e.mul(q, e.op("stablehlo.cosine", {angle}))),
                       times(e, fourth, std::sqrt(M_PI)));
  Val middle = chebyshev(e, mapped(e, x, -2, 2), kAirySmall);
  Val value = e.select(isLess(e, size, 2), middle, e.select(isLess(e, x, 0), swinging, decaying));
  return e.select(is(e, size, INFINITY), e.like(x, NAN), value);
}

/// Computes e^(x^2). The rounding error of x^2 would be multiplied by x^2, so x is split into a head with an exact square and the rest.
Val exponentialOfSquare(Emitter &e, const Val &x) {
  // From 26.7 on the value is infinite; of an infinite x the rest would be no number.
  Val size = minimum(e, absolute(e, x), e.like(x, 30));
  bool isDouble = x.dtype() == DType::F64;
  Val head = e.op("stablehlo.reduce_precision", {size},
                  {{"exponent_bits", isDouble ? "11 : i32" : "8 : i32"}, {"mantissa_bits", isDouble ? "25 : i32" : "11 : i32"}});
  Val rest = e.mul(e.sub(size, head), e.add(size, head));
  return e.mul(exponential(e, e.mul(head, head)), exponential(e, rest));
}

Val erfcx(Emitter &e, const Val &x) {
  Val size = absolute(e, x);
  Val t = e.div(e.sub(size, e.like(x, 3.75)), e.add(size, e.like(x, 3.75)));
  Val positive = e.div(chebyshev(e, t, kErfcx), e.add(e.like(x, 1), times(e, size, 2)));
  positive = e.select(is(e, size, INFINITY), e.like(x, 0), positive);
  return e.select(isLess(e, x, 0), e.sub(times(e, exponentialOfSquare(e, x), 2), positive), positive);
}

/// Computes the inverse of the standard normal distribution function.
Val ndtri(Emitter &e, const Val &p) {
  Val one = e.like(p, 1), q = minimum(e, p, e.sub(one, p));
  Val z = root(e, times(e, logarithm(e, q), -2)), w = over(e, 1, z);
  Val fitted = e.select(isLess(e, z, 8), chebyshev(e, mapped(e, w, 1.0 / 8, 0.5), kNormalTail),
                        chebyshev(e, mapped(e, w, 1.0 / 40, 1.0 / 8), kNormalFarTail));
  Val tail = e.sub(e.sub(z, e.mul(logarithm(e, z), w)), e.mul(fitted, w));
  tail = e.select(e.compare(p, q, "EQ"), e.neg(tail), tail);
  Val middle = times(e, e.op("chlo.erf_inv", {e.sub(e.add(p, p), one)}), M_SQRT2);
  Val value = e.select(isLess(e, q, std::exp(-2.0)), tail, middle);
  value = e.select(is(e, p, 0), e.like(p, -INFINITY), e.select(is(e, p, 1), e.like(p, INFINITY), value));
  return e.select(either(e, isLess(e, p, 0), e.compare(p, one, "GT")), e.like(p, NAN), value);
}

void unary(Registry &r, std::initializer_list<const char *> names, Unary fn) {
  r.add(names, [fn](const Call &c) -> Vals { return {finished(c, fn(c.e, mathLike(c, 0)))}; });
}

/// Computes the n-th derivative of digamma for n > 0. Negative x by reflection: psi_n(x) = (-1)^n psi_n(1 - x) - pi (d/dx)^n cot(pi x), where the
/// derivative of a polynomial P of the cotangent c is -pi (1 + c^2) P'(c).
Val polygammaOf(Emitter &e, const Val &x, int64_t n) {
  Val one = e.like(x, 1), isNegative = e.compare(x, e.like(x, 0), "LE");
  Val value = e.op("chlo.polygamma", {e.like(x, double(n)), e.select(isNegative, e.sub(one, x), x)});
  Coefficients p = {0, 1};
  for (int64_t k = 0; k < n; ++k) {
    Coefficients next(p.size() + 1, 0.0);
    for (size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= double(i) * p[i] * M_PI;
      next[i + 1] -= double(i) * p[i] * M_PI;
    }
    p = next;
  }
  // The angle is computed from the distance to the nearest integer, which is exact.
  Val angle = times(e, e.sub(x, e.op("stablehlo.round_nearest_even", {x})), M_PI);
  Val cotangent = e.div(e.op("stablehlo.cosine", {angle}), e.op("stablehlo.sine", {angle})), sum = e.like(x, p.back());
  for (size_t i = p.size() - 1; i-- > 0;)
    sum = e.add(e.mul(sum, cotangent), e.like(x, p[i]));
  Val reflected = e.sub(n % 2 ? e.neg(value) : value, times(e, sum, M_PI));
  return e.select(isNegative, reflected, value);
}

/// Arguments: n, x.
Vals polygamma(const Call &c) {
  int64_t n = c.integer(0);
  Val x = mathLike(c, 1);
  return {finished(c, n == 0 ? digamma(c.e, x) : polygammaOf(c.e, x, n))};
}

//===-- Orthogonal polynomials ----------------------------------------------===//

struct Polynomial {
  /// The polynomial of degree 1.
  Unary first;
  /// Computes the next polynomial from degree k (a float of the shape of x), x, the current and the previous one.
  std::function<Val(Emitter &, const Val &, const Val &, const Val &, const Val &)> next;
  /// A closed form of degree n for |x| < 1.
  std::function<Val(Emitter &, const Val &, const Val &)> closed;
  /// Degrees above the limit yield NaN, as in PyTorch, because the recurrence overflows.
  double limitFloat = INFINITY, limitDouble = INFINITY;
};

/// Evaluates the recurrence up to the greatest degree among the elements. Degrees are integers; negative ones yield 0.
Vals polynomial(const Call &c, const Polynomial &p, bool isShifted) {
  Emitter &e = c.e;
  Val x = mathLike(c, 0), degree = mathLike(c, 1);
  if (!x || !degree)
    return {x};
  if (isShifted)
    x = e.sub(e.add(x, x), e.like(x, 1));
  degree = e.convert(e.convert(degree, DType::I64), x.dtype());
  Val needed = degree, hasClosed;
  if (p.closed) { // polynomials of high degree need no recurrence here
    hasClosed = both(e, e.compare(degree, e.like(x, 8), "GT"), isLess(e, absolute(e, x), 1));
    needed = e.select(hasClosed, e.like(x, 0), degree);
  }
  double limit = x.dtype() == DType::F64 ? p.limitDouble : p.limitFloat;
  if (std::isfinite(limit))
    needed = minimum(e, needed, e.like(x, limit));
  Shape scalar{x.dtype(), {}};
  Val highest = e.reduce(e.reshape(needed, {needed.shape.count()}), e.constant(0.0, scalar), {0}, "stablehlo.maximum");
  Val one = e.constant(1.0, scalar);
  Vals made = e.loop({one, highest, x, needed, e.like(x, 1), p.first(e, x)},
                     [&](const Vals &in) { return e.compare(in[0], in[1], "LT"); },
                     [&](const Vals &in) -> Vals {
                       Val k = e.broadcast(in[0], in[2].dims());
                       Val next = p.next(e, k, in[2], in[5], in[4]), goesOn = e.compare(k, in[3], "LT");
                       return {e.add(in[0], e.constant(1.0, scalar)), in[1], in[2], in[3],
                               e.select(goesOn, in[5], in[4]), e.select(goesOn, next, in[5])};
                     });
  Val value = e.select(isLess(e, degree, 1), e.like(x, 1), made[5]);
  if (p.closed)
    value = e.select(hasClosed, p.closed(e, x, degree), value);
  if (std::isfinite(limit))
    value = e.select(e.compare(degree, e.like(x, limit), "GT"), e.like(x, NAN), value);
  return {finished(c, e.select(isLess(e, degree, 0), e.like(x, 0), value))};
}

Val cosineOf(Emitter &e, const Val &x) { return e.op("stablehlo.cosine", {x}); }
Val sineOf(Emitter &e, const Val &x) { return e.op("stablehlo.sine", {x}); }
Val angleOf(Emitter &e, const Val &x) { return e.op("chlo.acos", {x}); }

void registerPolynomials(Registry &r) {
  auto chebyshevNext = [](Emitter &e, const Val &, const Val &x, const Val &q, const Val &p) {
    return e.sub(e.mul(e.add(x, x), q), p);
  };
  auto linear = [](double factor, double offset) {
    return [=](Emitter &e, const Val &x) { return e.add(times(e, x, factor), e.like(x, offset)); };
  };
  auto halfAngle = [](Emitter &e, const Val &x, const Val &n, bool isSine) {
    Val angle = angleOf(e, x), half = times(e, angle, 0.5), wide = e.mul(e.add(n, e.like(n, 0.5)), angle);
    return isSine ? e.div(sineOf(e, wide), sineOf(e, half)) : e.div(cosineOf(e, wide), cosineOf(e, half));
  };
  Polynomial kinds[4] = {
      {linear(1, 0), chebyshevNext, [](Emitter &e, const Val &x, const Val &n) { return cosineOf(e, e.mul(n, angleOf(e, x))); }},
      {linear(2, 0), chebyshevNext, [](Emitter &e, const Val &x, const Val &n) {
         Val angle = angleOf(e, x);
         return e.div(sineOf(e, e.mul(e.add(n, e.like(n, 1)), angle)), sineOf(e, angle));
       }},
      {linear(2, -1), chebyshevNext, [=](Emitter &e, const Val &x, const Val &n) { return halfAngle(e, x, n, false); }},
      {linear(2, 1), chebyshevNext, [=](Emitter &e, const Val &x, const Val &n) { return halfAngle(e, x, n, true); }}};
  Polynomial hermite{linear(2, 0), [](Emitter &e, const Val &k, const Val &x, const Val &q, const Val &p) {
                       return e.sub(e.mul(e.add(x, x), q), e.mul(e.add(k, k), p));
                     }, nullptr, 128, 512};
  Polynomial hermiteE{linear(1, 0), [](Emitter &e, const Val &k, const Val &x, const Val &q, const Val &p) {
                        return e.sub(e.mul(x, q), e.mul(k, p));
                      }, nullptr, 128, 512};
  Polynomial laguerre{linear(-1, 1), [](Emitter &e, const Val &k, const Val &x, const Val &q, const Val &p) {
                        Val one = e.like(x, 1);
                        return e.div(e.sub(e.mul(e.add(e.add(k, k), e.sub(one, x)), q), e.mul(k, p)), e.add(k, one));
                      }, nullptr};
  Polynomial legendre{linear(1, 0), [](Emitter &e, const Val &k, const Val &x, const Val &q, const Val &p) {
                        Val one = e.like(x, 1);
                        return e.div(e.sub(e.mul(e.mul(e.add(e.add(k, k), one), x), q), e.mul(k, p)), e.add(k, one));
                      }, nullptr};
  auto add = [&](const std::string &name, const Polynomial &p, bool isShifted = false) {
    for (const char *overload : {"", ".x_scalar", ".n_scalar"})
      r.add({("special_" + name + overload).c_str()}, [p, isShifted](const Call &c) { return polynomial(c, p, isShifted); });
  };
  for (int kind = 0; kind < 4; ++kind) {
    std::string letter(1, "tuvw"[kind]);
    add("chebyshev_polynomial_" + letter, kinds[kind]);
    add("shifted_chebyshev_polynomial_" + letter, kinds[kind], true);
  }
  add("hermite_polynomial_h", hermite);
  add("hermite_polynomial_he", hermiteE);
  add("laguerre_polynomial_l", laguerre);
  add("legendre_polynomial_p", legendre);
}

} // namespace

void registerSpecial(Registry &r) {
  unary(r, {"i0", "special_modified_bessel_i0"}, i0);
  unary(r, {"special_i0e"}, i0e);
  unary(r, {"special_i1", "special_modified_bessel_i1"}, i1);
  unary(r, {"special_i1e"}, i1e);
  for (int order : {0, 1}) {
    std::string name = "modified_bessel_k" + std::to_string(order);
    unary(r, {("special_" + name).c_str()}, [order](Emitter &e, const Val &x) { return modifiedK(e, x, order, false); });
    unary(r, {("special_scaled_" + name).c_str()}, [order](Emitter &e, const Val &x) { return modifiedK(e, x, order, true); });
    unary(r, {("special_bessel_y" + std::to_string(order)).c_str()}, [order](Emitter &e, const Val &x) { return secondKind(e, x, order); });
  }
  unary(r, {"special_bessel_j0"}, j0);
  unary(r, {"special_bessel_j1"}, j1);
  unary(r, {"special_spherical_bessel_j0"}, sphericalJ0);
  unary(r, {"special_airy_ai"}, airy);
  unary(r, {"special_erfcx"}, erfcx);
  unary(r, {"special_ndtri"}, ndtri);
  r.add({"polygamma"}, polygamma);
  r.add({"special_zeta", "special_zeta.other_scalar", "special_zeta.self_scalar"}, [](const Call &c) -> Vals {
    return {finished(c, c.e.op("chlo.zeta", {mathLike(c, 0), mathLike(c, 1)}))};
  });
  registerPolynomials(r);
}

} // namespace millrace::tracing

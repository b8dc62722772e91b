// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComplexMath.cpp - Complex elementary functions for kernels ----------===//
// Float parts are computed in double, double parts in long double (80 bits on x86-64), by the C library where it has
// the function; formulas are next to those it lacks.
#include "runtime/kernels/Symbols.h"

#include <cmath>
#include <complex>

namespace {

template <typename T>
using Complex = std::complex<T>;

// exp(z) = exp(x) (cos y + i sin y). The result is NaN where y has no angle, also for infinite x, where the C library follows annex G. Real arguments
// have real results.
template <typename T>
Complex<T> expOf(Complex<T> z) {
  T x = z.real(), y = z.imag();
  if (y == 0)
    return {std::exp(x), y};
  if (!std::isfinite(y))
    return {y - y, y - y};
  return std::exp(z);
}

// Returns true if both parts are infinite: the number has neither angle nor magnitude, and the result is NaN, where the C library returns an
// infinity.
template <typename T>
bool isNowhere(Complex<T> z) {
  return std::isinf(z.real()) && std::isinf(z.imag());
}
template <typename T>
Complex<T> sinOf(Complex<T> z) {
  return isNowhere(z) ? Complex<T>(NAN, NAN) : std::sin(z);
}
template <typename T>
Complex<T> cosOf(Complex<T> z) {
  return isNowhere(z) ? Complex<T>(NAN, NAN) : std::cos(z);
}

// exp(z) - 1 = (expm1(x) cos y - 2 sin^2(y/2)) + i exp(x) sin y, which has no cancellation near 0.
template <typename T>
Complex<T> expm1Of(Complex<T> z) {
  T x = z.real(), y = z.imag(), s = std::sin(y / 2);
  if (y == 0)
    return {std::expm1(x), y};
  return {std::expm1(x) * std::cos(y) - 2 * s * s, std::exp(x) * std::sin(y)};
}

// log(1 + z) = log1p(x (2 + x) + y^2) / 2 + i atan2(y, 1 + x). The argument of log1p is exact enough near 0.
template <typename T>
Complex<T> log1pOf(Complex<T> z) {
  T x = z.real(), y = z.imag();
  T imaginary = std::atan2(y, 1 + x);
  if (std::fabs(x) > T(0.5) || std::fabs(y) > T(0.5))
    return {std::log(std::hypot(1 + x, y)), imaginary};
  return {std::log1p(x * (2 + x) + y * y) / 2, imaginary};
}

template <typename T>
Complex<T> rsqrtOf(Complex<T> z) {
  if (std::isinf(z.real()) || std::isinf(z.imag()))
    return {T(0), std::copysign(T(0), -z.imag())};
  return T(1) / std::sqrt(z);
}

template <typename T>
Complex<T> cbrtOf(Complex<T> z) {
  if (z.real() == 0 && z.imag() == 0)
    return z;
  T radius = std::cbrt(std::hypot(z.real(), z.imag())), angle = std::atan2(z.imag(), z.real()) / 3;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <typename T>
Complex<T> logisticOf(Complex<T> z) {
  return T(1) / (T(1) + expOf(-z));
}

template <typename T>
Complex<T> powOf(Complex<T> x, Complex<T> y) {
  if (x == Complex<T>(0)) {
    if (y == Complex<T>(0))
      return T(1);
    if (y.imag() == 0 && y.real() > 0)
      return T(0);
  }
  if (y == Complex<T>(0))
    return T(1);
  T logRadius = std::log(std::hypot(x.real(), x.imag())), angle = std::atan2(x.imag(), x.real());
  T magnitude = std::exp(y.real() * logRadius - y.imag() * angle);
  T phase = y.imag() * logRadius + y.real() * angle;
  return {magnitude * std::cos(phase), magnitude * std::sin(phase)};
}

// atan2(y, x) = -i log((x + i y) / sqrt(x^2 + y^2))
template <typename T>
Complex<T> atan2Of(Complex<T> y, Complex<T> x) {
  Complex<T> i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
}

template <typename T>
MillraceComplex parts(Complex<T> value) {
  return {double(value.real()), double(value.imag())};
}

} // namespace

#define MILLRACE_DEFINE_UNARY(op, expression)                                                                          \
  MillraceComplex millrace_rt_c##op##f(double re, double im) {                                                         \
    Complex<double> z(re, im);                                                                                         \
    return parts(expression);                                                                                          \
  }                                                                                                                    \
  MillraceComplex millrace_rt_c##op(double re, double im) {                                                            \
    Complex<long double> z(re, im);                                                                                    \
    return parts(expression);                                                                                          \
  }
#define MILLRACE_DEFINE_BINARY(op, expression)                                                                         \
  MillraceComplex millrace_rt_c##op##f(double re, double im, double re2, double im2) {                                 \
    Complex<double> x(re, im), y(re2, im2);                                                                            \
    return parts(expression);                                                                                          \
  }                                                                                                                    \
  MillraceComplex millrace_rt_c##op(double re, double im, double re2, double im2) {                                    \
    Complex<long double> x(re, im), y(re2, im2);                                                                       \
    return parts(expression);                                                                                          \
  }

extern "C" {
MILLRACE_DEFINE_UNARY(exp, expOf(z))
MILLRACE_DEFINE_UNARY(expm1, expm1Of(z))
MILLRACE_DEFINE_UNARY(log, std::log(z))
MILLRACE_DEFINE_UNARY(log1p, log1pOf(z))
MILLRACE_DEFINE_UNARY(sqrt, std::sqrt(z))
MILLRACE_DEFINE_UNARY(rsqrt, rsqrtOf(z))
MILLRACE_DEFINE_UNARY(cbrt, cbrtOf(z))
MILLRACE_DEFINE_UNARY(sin, sinOf(z))
MILLRACE_DEFINE_UNARY(cos, cosOf(z))
MILLRACE_DEFINE_UNARY(tan, std::tan(z))
MILLRACE_DEFINE_UNARY(tanh, std::tanh(z))
MILLRACE_DEFINE_UNARY(logistic, logisticOf(z))
MILLRACE_DEFINE_BINARY(pow, powOf(x, y))
MILLRACE_DEFINE_BINARY(div, x / y)
MILLRACE_DEFINE_BINARY(atan2, atan2Of(x, y))
}

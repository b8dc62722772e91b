// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reciprocal.cpp - Quotients by a constant as products ---------------===//
// With p bits of a number, high = 1 / c rounded toward zero and low the rest, rounded, fma(x, high, x * low) rounds a number once that is within
// 2^(2 - 2p) of x / c (N. Brisebarre, J.-M. Muller, S. K. Raina, "Accelerating correctly rounded floating-point division when the divisor is
// known in advance", 2004). It is wrong only if the middle of two neighbours lies between both. For integers X and C of p bits, the significands
// of x and c, and M of p + 1 bits, that middle: X 2^s - C M = d with a small d. There are a handful of such X for each d, and they are tried.
// Both parts have one sign: so zeros keep theirs and infinities do not become NaN.
#include "lowering/cpu/math/Reciprocal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace millrace::lowering {
namespace {

/// Whether the formula holds for all significands; `significand` and the parts belong to a c in [1, 2).
template <typename T>
bool isExact(uint64_t significand, T high, T low) {
  constexpr int p = std::numeric_limits<T>::digits;
  constexpr int most = 18; // |d|: 8 by the error of the formula, 8 more where `low` is not the nearest number
  T c = std::ldexp(T(significand), 1 - p);
  int zeros = __builtin_ctzll(significand);
  uint64_t odd = significand >> zeros, inverse = odd; // of `odd`, modulo 2^64: each step doubles the number of right bits
  for (int step = 0; step < 6; ++step)
    inverse *= 2 - odd * inverse;
  for (int s = p; s <= p + 1; ++s) {
    uint64_t modulus = uint64_t(1) << (s - zeros);
    for (int d = -most; d <= most; ++d) {
      if (d == 0 || d % (1 << std::min(zeros, 5)) != 0)
        continue;
      uint64_t first = (uint64_t(0) - uint64_t(int64_t(d) >> zeros) * inverse) & (modulus - 1);
      for (uint64_t middle = first + (((uint64_t(1) << p) - first + modulus - 1) & ~(modulus - 1)); middle < uint64_t(2) << p; middle += modulus) {
        if (middle < uint64_t(1) << p || !(middle & 1))
          continue;
        unsigned __int128 scaled = (unsigned __int128)(significand) * middle + (unsigned __int128)(__int128(d));
        uint64_t x = uint64_t(scaled >> s);
        if (x >> (p - 1) != 1)
          continue;
        T number = T(x), product = number * low;
        if (std::fma(number, high, product) != number / c)
          return false;
      }
    }
  }
  return true;
}

} // namespace

template <typename T>
std::optional<Reciprocal<T>> reciprocalOf(T c) {
  constexpr int p = std::numeric_limits<T>::digits, mostExponent = 30;
  if (!std::isnormal(c) || std::abs(std::ilogb(c)) > mostExponent)
    return std::nullopt;
  int exponent = std::ilogb(c);
  uint64_t significand = uint64_t(std::ldexp(std::abs(c), p - 1 - exponent));
  if (!(significand & (significand - 1)))
    return std::nullopt;
  unsigned __int128 power = (unsigned __int128)(1) << (2 * p - 1);
  uint64_t quotient = uint64_t(power / significand), rest = uint64_t(power % significand);
  T high = std::ldexp(T(quotient), -p), nearest = std::ldexp(T(rest) / T(significand), -p);
  for (T low : {nearest, std::nextafter(nearest, T(1)), std::nextafter(nearest, T(0))})
    if (isExact(significand, high, low)) {
      T scale = std::copysign(std::ldexp(T(1), -exponent), c);
      return Reciprocal<T>{high * scale, low * scale, std::numeric_limits<T>::min_exponent - 1 - std::ilogb(low * scale)};
    }
  return std::nullopt;
}

template std::optional<Reciprocal<float>> reciprocalOf(float);
template std::optional<Reciprocal<double>> reciprocalOf(double);

} // namespace millrace::lowering

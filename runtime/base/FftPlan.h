// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FftPlan.h - How a transform of one length is computed --------------===//
// Plain data, no IR: factors, tables of roots of unity and chirps, all in double.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::runtime {

/// A table of complex numbers, real and imaginary parts apart.
struct ComplexTable {
  std::vector<double> re, im;
};

/// e^(-2 pi i k / n) for k in [0, n), each correctly rounded from an angle reduced to an eighth of the circle.
ComplexTable rootsOfUnity(int64_t n);

/// The radices of a mixed-radix transform of length n (4 first, then 2, 3, 5, ...), the largest prime last. n >= 1.
std::vector<int64_t> fftRadices(int64_t n);

/// Radices beyond this are not worth their quadratic butterfly: such lengths go through a chirp (Bluestein).
inline constexpr int64_t largestRadix = 89;

/// Length of the power-of-two convolution of Bluestein's algorithm for length n: at least 2n - 1.
int64_t chirpLength(int64_t n);

/// e^(-pi i k^2 / n) for k in [0, n).
ComplexTable chirp(int64_t n);

/// The transform, of length chirpLength(n), of the conjugated chirp wrapped around (b(k) = b(-k)), divided by that length.
ComplexTable chirpSpectrum(int64_t n);

} // namespace millrace::runtime

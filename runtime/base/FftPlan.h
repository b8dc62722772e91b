// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FftPlan.h - Tables for a Fourier transform of one length -----------===//
// The plan is plain data without IR: factors, tables of roots of unity and chirps, all in double precision.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::runtime {

/// A table of complex numbers with separate real and imaginary parts.
struct ComplexTable {
  std::vector<double> re, im;
};

/// Returns e^(-2 pi i k / n) for k in [0, n), each correctly rounded from an angle that is reduced to an eighth of the circle.
ComplexTable rootsOfUnity(int64_t n);

/// Returns the radices of a mixed-radix transform of length n >= 1: 4 first, then 2, 3, 5, ..., and the largest prime last.
std::vector<int64_t> fftRadices(int64_t n);

/// Lengths with a larger prime factor use Bluestein's algorithm, which is faster than a butterfly whose cost is quadratic in the radix.
inline constexpr int64_t largestRadix = 89;

/// Returns the length of the convolution in Bluestein's algorithm for length n: a power of two of at least 2n - 1.
int64_t chirpLength(int64_t n);

/// Returns e^(-pi i k^2 / n) for k in [0, n).
ComplexTable chirp(int64_t n);

/// Returns the transform of length chirpLength(n) of the conjugated chirp, extended by b(-k) = b(k), divided by that length.
ComplexTable chirpSpectrum(int64_t n);

} // namespace millrace::runtime

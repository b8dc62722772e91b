// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FftPlan.cpp - How a transform of one length is computed ------------===//
// Input:   a length, e.g. 12 or 1009
// Output:  radices {4, 3}, roots of unity; for 1009 (prime): chirp tables for a convolution of length 2048
// References: Bluestein, "A linear filtering approach to the computation of the DFT" (1970); Stockham's autosort form.
#include "runtime/base/FftPlan.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace millrace::runtime {

/// e^(-2 pi i k / n) with the angle reduced to [0, pi/4] so that symmetric roots are exactly symmetric.
static std::complex<double> root(int64_t k, int64_t n) {
  k %= n;
  // Octant of 8k/n, in integers.
  int64_t octant = (8 * k) / n, rest = 8 * k - octant * n; // angle = (octant + rest/n) * pi/4
  bool mirrored = octant & 1;
  double angle = std::numbers::pi / 4 * (mirrored ? double(n - rest) : double(rest)) / double(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (mirrored)
    std::swap(c, s);
  for (int64_t quarter = octant / 2; quarter > 0; --quarter) {
    double old = c;
    c = -s;
    s = old;
  }
  return {c, -s};
}

ComplexTable rootsOfUnity(int64_t n) {
  ComplexTable table;
  for (int64_t k = 0; k < n; ++k) {
    auto value = root(k, n);
    table.re.push_back(value.real());
    table.im.push_back(value.imag());
  }
  return table;
}

std::vector<int64_t> fftRadices(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 4 == 0; n /= 4)
    radices.push_back(4);
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      radices.push_back(p);
  if (n > 1)
    radices.push_back(n);
  return radices;
}

int64_t chirpLength(int64_t n) {
  int64_t length = 1;
  while (length < 2 * n - 1)
    length *= 2;
  return length;
}

ComplexTable chirp(int64_t n) {
  ComplexTable table;
  for (int64_t k = 0; k < n; ++k) {
    // k^2 modulo 2n keeps the angle exact for large k.
    int64_t square = static_cast<int64_t>(static_cast<unsigned __int128>(k) * k % (2 * n));
    auto value = root(square, 2 * n);
    table.re.push_back(value.real());
    table.im.push_back(value.imag());
  }
  return table;
}

static void transform(std::vector<std::complex<double>> &values) {
  size_t n = values.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j ^= bit;
    if (i < j)
      std::swap(values[i], values[j]);
  }
  ComplexTable roots = rootsOfUnity(int64_t(n));
  for (size_t length = 2; length <= n; length *= 2)
    for (size_t start = 0; start < n; start += length)
      for (size_t k = 0; k < length / 2; ++k) {
        size_t turn = k * (n / length);
        auto a = values[start + k], b = values[start + k + length / 2] * std::complex<double>(roots.re[turn], roots.im[turn]);
        values[start + k] = a + b;
        values[start + k + length / 2] = a - b;
      }
}

ComplexTable chirpSpectrum(int64_t n) {
  int64_t length = chirpLength(n);
  ComplexTable forward = chirp(n), result;
  std::vector<std::complex<double>> values(length);
  for (int64_t k = 0; k < n; ++k) {
    values[k] = {forward.re[k], -forward.im[k]};
    if (k > 0)
      values[length - k] = values[k];
  }
  transform(values);
  for (auto value : values) {
    result.re.push_back(value.real() / length);
    result.im.push_back(value.imag() / length);
  }
  return result;
}

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FftPlanTest.cpp - Tables and radices of transforms -----------------===//
#include "runtime/base/FftPlan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

using namespace millrace::runtime;

TEST(FftPlan, RadicesMultiplyToTheLength) {
  for (int64_t n = 1; n < 3000; ++n) {
    int64_t product = 1;
    for (int64_t radix : fftRadices(n))
      product *= radix;
    EXPECT_EQ(product, n);
  }
  EXPECT_EQ(fftRadices(1), std::vector<int64_t>{});
  EXPECT_EQ(fftRadices(24), (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(fftRadices(1009), std::vector<int64_t>{1009});
}

TEST(FftPlan, RootsLieOnTheAxesExactly) {
  ComplexTable roots = rootsOfUnity(12);
  EXPECT_EQ(roots.re[0], 1);
  EXPECT_EQ(roots.im[0], 0);
  EXPECT_EQ(roots.re[3], 0);
  EXPECT_EQ(roots.im[3], -1);
  EXPECT_EQ(roots.re[6], -1);
  EXPECT_EQ(roots.im[6], 0);
  EXPECT_EQ(roots.re[9], 0);
  EXPECT_EQ(roots.im[9], 1);
}

TEST(FftPlan, RootsEqualTheExponential) {
  for (int64_t n : {1, 2, 3, 5, 7, 8, 30, 1009}) {
    ComplexTable roots = rootsOfUnity(n);
    ASSERT_EQ(roots.re.size(), size_t(n));
    for (int64_t k = 0; k < n; ++k) {
      auto want = std::polar(1.0, -2 * std::numbers::pi * double(k) / double(n));
      EXPECT_NEAR(roots.re[k], want.real(), 2e-15) << k << " of " << n;
      EXPECT_NEAR(roots.im[k], want.imag(), 2e-15) << k << " of " << n;
    }
  }
}

TEST(FftPlan, ChirpIsQuadraticAndLongEnough) {
  for (int64_t n : {97, 1009}) {
    EXPECT_GE(chirpLength(n), 2 * n - 1);
    EXPECT_EQ(chirpLength(n) & (chirpLength(n) - 1), 0);
    ComplexTable table = chirp(n);
    for (int64_t k = 0; k < n; ++k) {
      auto want = std::polar(1.0, -std::numbers::pi * double(k * k % (2 * n)) / double(n));
      EXPECT_NEAR(table.re[k], want.real(), 2e-15);
      EXPECT_NEAR(table.im[k], want.imag(), 2e-15);
    }
  }
}

TEST(FftPlan, ChirpSpectrumIsATransform) {
  // Entry 0 of a transform is the sum of its input; the input's absolute values are all 1 or 0.
  int64_t n = 97, length = chirpLength(n);
  ComplexTable table = chirp(n), spectrum = chirpSpectrum(n);
  std::complex<double> sum = {table.re[0], -table.im[0]};
  for (int64_t k = 1; k < n; ++k)
    sum += 2.0 * std::complex<double>{table.re[k], -table.im[k]};
  EXPECT_NEAR(spectrum.re[0] * length, sum.real(), 1e-10);
  EXPECT_NEAR(spectrum.im[0] * length, sum.imag(), 1e-10);
  double energy = 0;
  for (int64_t k = 0; k < length; ++k)
    energy += spectrum.re[k] * spectrum.re[k] + spectrum.im[k] * spectrum.im[k];
  EXPECT_NEAR(energy * length, double(2 * n - 1), 1e-9); // Parseval
}

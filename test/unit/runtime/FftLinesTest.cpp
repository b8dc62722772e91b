// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FftLinesTest.cpp - Transforms of lines, for every width of vectors --===//
#include "runtime/fft/Lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <random>

using namespace millrace::runtime;
using namespace millrace::runtime::fft;

namespace {

using Complex = std::complex<double>;

/// By the definition, in double precision.
std::vector<Complex> slow(const std::vector<Complex> &x, bool isInverse) {
  size_t n = x.size();
  std::vector<Complex> y(n), roots(n);
  for (size_t k = 0; k < n; ++k)
    roots[k] = std::polar(1.0, (isInverse ? 2 : -2) * std::numbers::pi * double(k) / double(n));
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0, turn = 0; j < n; ++j, turn = turn + k >= n ? turn + k - n : turn + k)
      y[k] += x[j] * roots[turn];
    if (isInverse)
      y[k] /= double(n);
  }
  return y;
}

/// `lines` lines of random numbers, one after the other, and their transforms.
struct Example {
  Example(int64_t n, int64_t lines, bool isInverse, bool isFloat) {
    std::mt19937 random(unsigned(n * 100 + lines));
    std::normal_distribution<double> normal;
    auto number = [&] {
      double value = normal(random);
      return isFloat ? double(float(value)) : value;
    };
    for (int64_t line = 0; line < lines; ++line) {
      x.emplace_back();
      for (int64_t k = 0; k < n; ++k) {
        double re = number();
        x.back().emplace_back(re, number());
      }
      y.push_back(slow(x.back(), isInverse));
    }
  }
  std::vector<std::vector<Complex>> x, y;
};

template <typename T>
std::vector<Implementation<T>> implementations() {
  std::vector<Implementation<T>> all;
  constexpr bool isFloat = sizeof(T) == 4;
  auto take = [&](auto single, auto twice) {
    if constexpr (isFloat)
      all.push_back(single());
    else
      all.push_back(twice());
  };
  take(portableFloat, portableDouble);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    take(avx2Float, avx2Double);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    take(avx512Float, avx512Double);
#endif
  return all;
}

/// Memory whose ends nobody may touch.
template <typename T>
struct Guarded {
  explicit Guarded(size_t count) : all(count + 2 * margin, T(1234)), count(count) {}
  T *data() { return all.data() + margin; }
  bool isWhole() const {
    auto isUntouched = [](T x) { return x == T(1234); };
    return std::all_of(all.begin(), all.begin() + margin, isUntouched) && std::all_of(all.end() - margin, all.end(), isUntouched);
  }
  static constexpr int margin = 32;
  std::vector<T> all;
  size_t count;
};

template <typename T>
void checkLines(const Implementation<T> &implementation, const Example &example, bool isInverse, bool byRuns, bool areColumns) {
  int64_t n = int64_t(example.x[0].size()), lines = int64_t(example.x.size());
  LinePlan<T> plan(n, implementation.lanes);
  if (byRuns && !plan.run)
    return;
  SCOPED_TRACE(testing::Message() << "n " << n << ", lines " << lines << ", lanes " << implementation.lanes << ", inverse " << isInverse << ", runs "
                                  << (byRuns ? plan.run : 0) << ", columns " << areColumns);
  Guarded<T> x(size_t(2 * n * lines)), y(size_t(2 * n * lines));
  auto place = [&](T *data, int64_t line, int64_t k) { return data + (areColumns ? 2 * (k * lines + line) : 2 * (line * n + k)); };
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t k = 0; k < n; ++k) {
      T *number = place(x.data(), line, k);
      number[0] = T(example.x[size_t(line)][size_t(k)].real()), number[1] = T(example.x[size_t(line)][size_t(k)].imag());
    }
  Lines<T> job;
  job.plan = &plan, job.in = x.data(), job.out = y.data(), job.lines = lines;
  job.swapIn = job.swapOut = isInverse;
  job.scale = isInverse ? T(1.0 / double(n)) : T(1);
  if (areColumns)
    job.inner = lines, job.inInner = job.outInner = 2, job.inStep = job.outStep = 2 * lines, job.inOuter = job.outOuter = 2 * lines * n;
  else
    job.inOuter = job.outOuter = 2 * n;
  int64_t together = byRuns ? implementation.lanes / plan.run : implementation.lanes;
  size_t numbers = size_t(byRuns ? plan.runScratch(implementation.lanes) : plan.scratch(implementation.lanes));
  T *scratch = static_cast<T *>(std::aligned_alloc(64, (numbers * sizeof(T) + 63) / 64 * 64));
  (byRuns ? implementation.transformRuns : implementation.transform)(job, 0, byRuns ? (lines + together - 1) / together : job.groups(together), scratch);
  std::free(scratch);
  EXPECT_TRUE(x.isWhole() && y.isWhole());
  double worst = 0;
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t k = 0; k < n; ++k) {
      T *number = place(y.data(), line, k);
      worst = std::max(worst, std::abs(Complex(number[0], number[1]) - example.y[size_t(line)][size_t(k)]));
    }
  double size = isInverse ? 1 / std::sqrt(double(n)) : std::sqrt(double(n)); // of a result
  // The sum by the definition itself loses digits; a convolution rounds its numbers several times.
  double unit = sizeof(T) == 4 ? 6e-8 : 1.2e-16 + 1e-17 * double(n);
  EXPECT_LT(worst, unit * size * (plan.convolution ? 60 : 20));
}

template <typename T>
void checkAll() {
  std::vector<Implementation<T>> all = implementations<T>();
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 25, 28, 32, 36, 44, 48, 60, 63, 64, 67, 72, 80, 88, 89, 96, 97, 100, 112, 120, 128, 144, 200,
                    243, 256, 360, 392, 400, 512, 520, 700, 1000, 1024})
    for (int64_t lines : {1, 2, 3, 5, 19})
      for (bool isInverse : {false, true}) {
        if (n > 256 && lines > 3)
          continue;
        Example example(n, lines, isInverse, sizeof(T) == 4);
        for (const Implementation<T> &implementation : all) {
          checkLines(implementation, example, isInverse, true, false);
          checkLines(implementation, example, isInverse, false, false);
          checkLines(implementation, example, isInverse, false, true);
        }
      }
}

TEST(FftLines, FloatsEqualTheDefinition) { checkAll<float>(); }
TEST(FftLines, DoublesEqualTheDefinition) { checkAll<double>(); }

TEST(FftLines, LinesGoByRunsWhereThereAreEnough) {
  EXPECT_EQ(LinePlan<float>(64, 16).run, 8);
  EXPECT_EQ(LinePlan<float>(64, 4).run, 4);
  EXPECT_EQ(LinePlan<float>(56, 16).run, 4);
  EXPECT_EQ(LinePlan<float>(8, 16).run, 0);
  EXPECT_EQ(LinePlan<float>(63, 16).run, 0);
  EXPECT_EQ(LinePlan<float>(8 * 97, 16).run, 0); // a convolution
  EXPECT_EQ(LinePlan<float>(128, 16).runRadices, (std::vector<int64_t>{8, 2, 8}));
  EXPECT_EQ(LinePlan<float>(8 * 7 * 3, 16).runRadices, (std::vector<int64_t>{8, 7, 3}));
}

} // namespace

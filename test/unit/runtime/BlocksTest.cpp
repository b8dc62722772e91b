// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlocksTest.cpp - Triangular systems and factorizations, every width of vectors ------===//
#include "runtime/lapack/Blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

using namespace millrace::runtime::lapack;

namespace {

template <typename T>
std::vector<Blocks<T>> all() {
  std::vector<Blocks<T>> found;
  auto add = [&](auto single, auto twice) {
    if constexpr (sizeof(T) == 4)
      found.push_back(single());
    else
      found.push_back(twice());
  };
  add(portableFloatBlocks, portableDoubleBlocks);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    add(avx2FloatBlocks, avx2DoubleBlocks);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    add(avx512FloatBlocks, avx512DoubleBlocks);
#endif
  return found;
}

template <typename T>
struct Memory {
  explicit Memory(int64_t numbers) : data(static_cast<T *>(std::aligned_alloc(64, (numbers * sizeof(T) + 63) / 64 * 64))) {}
  ~Memory() { std::free(data); }
  T *data;
};

template <typename T>
std::vector<T> random(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T &value : values)
    value = T(normal(engine));
  return values;
}

template <typename T>
class BlocksTest : public ::testing::Test {
protected:
  static constexpr double limit = sizeof(T) == 4 ? 1e-4 : 1e-12;
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlocksTest, Types);

TYPED_TEST(BlocksTest, solvesAllKindsOfSystems) {
  using T = TypeParam;
  for (const Blocks<T> &blocks : all<T>())
    for (int64_t n : {1, 2, 7, 8, 13, 33})
      for (int64_t lines : {1, 5, 16, 50})
        for (int flags = 0; flags < 16; ++flags) {
          constexpr int64_t count = 2;
          TriangularSystems<T> s;
          s.left = flags & 1, s.lower = flags & 2, s.transposed = flags & 4, s.unit = flags & 8;
          s.n = n, s.rows = s.left ? n : lines, s.columns = s.left ? lines : n;
          std::vector<T> a = random<T>(count * n * n, 1), b = random<T>(count * n * lines, 2), x(b.size());
          for (int64_t m = 0; m < count; ++m)
            for (int64_t i = 0; i < n; ++i)
              for (int64_t j = 0; j < n; ++j) {
                T &value = a[(m * n + i) * n + j];
                // The other triangle must not be read, nor a diagonal that is all ones.
                bool isUsed = i == j ? !s.unit : (i > j) == s.lower;
                value = !isUsed ? T(NAN) : i == j ? T(4) + std::abs(value) : value / T(8);
              }
          s.a = a.data(), s.b = b.data(), s.x = x.data();
          s.width = 2 * blocks.lanes;
          s.strips = (lines + s.width - 1) / s.width;
          Memory<T> scratch(blocks.solveScratch(s));
          blocks.solve(s, 0, count * s.strips, scratch.data);
          auto element = [&](int64_t m, int64_t i, int64_t j) -> double {
            if (s.transposed)
              std::swap(i, j);
            return i == j && s.unit ? 1.0 : i == j || (i > j) == s.lower ? double(a[(m * n + i) * n + j]) : 0.0;
          };
          for (int64_t m = 0; m < count; ++m)
            for (int64_t i = 0; i < s.rows; ++i)
              for (int64_t j = 0; j < s.columns; ++j) {
                double sum = 0;
                for (int64_t k = 0; k < n; ++k)
                  sum += s.left ? element(m, i, k) * x[m * n * lines + k * s.columns + j] : x[m * n * lines + i * s.columns + k] * element(m, k, j);
                ASSERT_NEAR(sum, b[m * n * lines + i * s.columns + j], this->limit) << "n " << n << ", lines " << lines << ", flags " << flags;
              }
        }
}

TYPED_TEST(BlocksTest, strips_do_not_change_results) {
  using T = TypeParam;
  for (const Blocks<T> &blocks : all<T>()) {
    int64_t n = 37, lines = 70;
    std::vector<T> a = random<T>(n * n, 3), b = random<T>(n * lines, 4), first(b.size()), second(b.size());
    for (int64_t i = 0; i < n; ++i)
      a[i * n + i] += T(8);
    TriangularSystems<T> s;
    s.a = a.data(), s.b = b.data(), s.n = s.rows = n, s.columns = lines;
    for (int vectors : {1, 3}) {
      s.x = vectors == 1 ? first.data() : second.data();
      s.width = vectors * blocks.lanes, s.strips = (lines + s.width - 1) / s.width;
      Memory<T> scratch(blocks.solveScratch(s));
      blocks.solve(s, 0, s.strips, scratch.data);
    }
    EXPECT_EQ(first, second);
  }
}

TYPED_TEST(BlocksTest, choleskyFactorsTimesTheirTransposes) {
  using T = TypeParam;
  for (const Blocks<T> &blocks : all<T>())
    for (int64_t n : {1, 2, 3, 5, 8, 16, 17, 40, 77})
      for (bool lower : {true, false}) {
        std::vector<T> half = random<T>(n * n, 5), a(n * n), factor(n * n);
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = i == j ? n : 0;
            for (int64_t k = 0; k < n; ++k)
              sum += double(half[i * n + k]) * half[j * n + k];
            a[i * n + j] = T(sum / n);
          }
        std::vector<T> read = a;
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j)
            if (i != j && (i > j) != lower)
              read[i * n + j] = T(NAN);
        Memory<T> scratch(blocks.squareScratch(n, n));
        EXPECT_EQ(blocks.cholesky(read.data(), factor.data(), n, lower, scratch.data), 0);
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (int64_t k = 0; k < n; ++k)
              sum += lower ? double(factor[i * n + k]) * factor[j * n + k] : double(factor[k * n + i]) * factor[k * n + j];
            ASSERT_NEAR(sum, a[i * n + j], this->limit) << "n " << n;
            if (i != j && (i > j) != lower)
              ASSERT_EQ(factor[i * n + j], T(0));
          }
      }
}

TYPED_TEST(BlocksTest, choleskyNamesThePivotThatIsNotPositive) {
  using T = TypeParam;
  for (const Blocks<T> &blocks : all<T>())
    for (int64_t bad : {0, 3, 9, 18}) {
      int64_t n = 19;
      std::vector<T> a(n * n, T(0)), factor(n * n);
      for (int64_t i = 0; i < n; ++i)
        a[i * n + i] = i == bad ? T(-1) : T(2);
      Memory<T> scratch(blocks.squareScratch(n, n));
      EXPECT_EQ(blocks.cholesky(a.data(), factor.data(), n, true, scratch.data), bad + 1);
    }
}

void twice(int64_t count, void (*body)(void *, int64_t, int64_t), void *context) {
  body(context, count / 2, count);
  body(context, 0, count / 2);
}

TYPED_TEST(BlocksTest, luFactorsGiveTheRowsBack) {
  using T = TypeParam;
  for (const Blocks<T> &blocks : all<T>())
    for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 3}, {8, 8}, {16, 16}, {20, 20}, {50, 50}, {30, 70}, {70, 30}, {5, 40}, {130, 130}, {300, 300}}) {
      int64_t least = std::min(m, n);
      std::vector<T> a = random<T>(m * n, 6), factors(m * n), shared(m * n);
      std::vector<int> exchanges(least), again(least);
      Memory<T> scratch(blocks.squareScratch(m, n));
      EXPECT_EQ(blocks.lu(a.data(), factors.data(), exchanges.data(), m, n, scratch.data, nullptr), 0);
      EXPECT_EQ(blocks.lu(a.data(), shared.data(), again.data(), m, n, scratch.data, twice), 0);
      EXPECT_EQ(factors, shared);
      EXPECT_EQ(exchanges, again);
      std::vector<T> rows = a;
      for (int64_t i = 0; i < least; ++i) {
        ASSERT_GE(exchanges[i], i + 1);
        ASSERT_LE(exchanges[i], m);
        for (int64_t j = 0; j < n; ++j)
          std::swap(rows[i * n + j], rows[(exchanges[i] - 1) * n + j]);
      }
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k <= std::min(i, j) && k < least; ++k)
            sum += (k == i ? 1.0 : double(factors[i * n + k])) * factors[k * n + j];
          ASSERT_NEAR(sum, rows[i * n + j], this->limit * 10) << m << " by " << n;
          if (i > j) // the largest of its column was the pivot
            ASSERT_LE(std::abs(factors[i * n + j]), T(1));
        }
    }
}

TYPED_TEST(BlocksTest, luNamesTheFirstPivotThatIsZero) {
  using T = TypeParam;
  for (const Blocks<T> &blocks : all<T>()) {
    int64_t n = 20;
    std::vector<T> a = random<T>(n * n, 7), factors(n * n);
    for (int64_t i = 0; i < n; ++i)
      a[i * n + 18] = 0;
    std::vector<int> exchanges(n);
    Memory<T> scratch(blocks.squareScratch(n, n));
    EXPECT_EQ(blocks.lu(a.data(), factors.data(), exchanges.data(), n, n, scratch.data, nullptr), 19);
  }
}

} // namespace

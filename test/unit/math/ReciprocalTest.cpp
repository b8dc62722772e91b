// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReciprocalTest.cpp - Quotients by a constant as products -----------===//
#include "lowering/cpu/math/Reciprocal.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

using namespace millrace::lowering;

namespace {

template <typename T>
T by(Reciprocal<T> r, T x) {
  T product = x * r.low;
  return std::fma(x, r.high, product);
}

/// Every significand: what images are divided by.
TEST(Reciprocal, AllSignificands) {
  for (float c : {255.0f, 0.229f, 0.224f, 0.225f, 127.5f, -3.7f}) {
    auto r = reciprocalOf(c);
    ASSERT_TRUE(r) << c;
    int64_t wrong = 0;
    for (uint32_t bits = 0x3f800000; bits < 0x40000000; ++bits) {
      float x = std::bit_cast<float>(bits);
      wrong += by(*r, x) != x / c;
    }
    EXPECT_EQ(wrong, 0) << c;
  }
}

template <typename T>
void manyDivisors(int count) {
  constexpr int p = std::numeric_limits<T>::digits;
  std::mt19937_64 random(5);
  auto number = [&](int exponents) {
    uint64_t significand = random() >> (65 - p);
    if (unsigned kind = random() % 4; kind == 1)
      significand &= random() & random();
    else if (kind == 2)
      significand |= (random() | random()) >> (65 - p);
    T value = std::ldexp(T((uint64_t(1) << (p - 1)) + significand), int(random() % unsigned(2 * exponents)) - exponents - p + 1);
    return random() % 2 ? value : -value;
  };
  int found = 0;
  for (int i = 0; i < count; ++i) {
    T c = number(20);
    auto r = reciprocalOf(c);
    if (!r)
      continue;
    ++found;
    T edges[] = {0, -T(0), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::max(), std::ldexp(T(1), r->leastExponent)};
    for (T x : edges)
      ASSERT_EQ(std::signbit(by(*r, x)), std::signbit(x / c)) << x << " / " << c;
    for (int k = 0; k < 200; ++k) {
      T x = k < 6 ? edges[k] : number(k % 2 ? 3 : 50), want = x / c;
      ASSERT_EQ(by(*r, x), want) << x << " / " << c;
      if (!std::isfinite(want) || want == 0)
        continue;
      // Next to the middle of two quotients.
      T close = std::fma(want, c, std::ldexp(std::abs(want * c), -p));
      if (std::isfinite(close))
        ASSERT_EQ(by(*r, close), close / c) << close << " / " << c;
    }
  }
  EXPECT_GT(found, count * 4 / 5);
}

TEST(Reciprocal, ManyDivisors) {
  manyDivisors<float>(20000);
  manyDivisors<double>(20000);
}

/// The divisors that are refused are wrong for some number.
TEST(Reciprocal, RefusedDivisors) {
  EXPECT_FALSE(reciprocalOf(4.0f));
  EXPECT_FALSE(reciprocalOf(0.0f));
  EXPECT_FALSE(reciprocalOf(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(reciprocalOf(1e-30f));
}

} // namespace

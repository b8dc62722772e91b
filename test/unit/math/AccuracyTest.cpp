// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccuracyTest.cpp - Errors of the expanded functions in ULP ---------===//
// f32 functions of one operand over every MILLRACE_MATH_STRIDE-th bit pattern (1 = all of them; 331 by default), against
// the C library's double; f64 functions on random numbers against its long double. One line per function:
//   build/bin/unit-math --gtest_filter='*Accuracy*'
#include "test/unit/math/MathKernel.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace millrace::test {
namespace {

constexpr int64_t kCount = MathKernel::kCount;

/// The distance of `got` from `want` in units of the last place of T at `want`. Infinite if one is NaN and the other not,
/// or signs of zeros differ.
template <typename T, typename W>
double ulps(T got, W want) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(want))
    return std::isnan(got) ? 0 : kWrong;
  if (std::isnan(got))
    return kWrong;
  T rounded = T(want);
  if (std::isinf(rounded) || std::isinf(got))
    return got == rounded ? 0
           : std::fabs(want) < 1.0001 * W(std::numeric_limits<T>::max()) && std::isinf(got) == std::isinf(want) ? 1
                                                                                                             : kWrong;
  if (got == 0 && want == 0)
    return std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  int exponent;
  std::frexp(W(std::fabs(want)), &exponent);
  int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  W unit = std::ldexp(W(1), std::max(exponent - std::numeric_limits<T>::digits, lowest));
  return double(std::fabs(W(got) - want) / unit);
}

struct Worst {
  double error = 0, at = 0, at2 = 0;
  void add(double e, double x, double y = 0) {
    if (e > error)
      *this = {e, x, y};
  }
};

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> kEdges = {
    0.0f, -0.0f, 1.0f,   -1.0f,   2.0f,    -2.0f,  0.5f,    -0.5f,    kInf,    -kInf,  kNan,      -kNan,    1e-45f,   -1e-45f,
    1e-40f, -1e-40f, 1.17549435e-38f, -1.17549435e-38f, 3.4028235e38f, -3.4028235e38f, 88.7f, 88.72284f, 88.73f, -87.3f, -103.9f, -104.1f,
    3.0f, -3.0f, 1e10f, -1e10f, 0.99999994f, 1.0000001f, -0.99999994f, -1.0000001f, 16777216.0f, 16777215.0f, 8388608.0f, 8388607.0f,
    1e22f, 1.5707964f, 3.1415927f, 1e-8f, -1e-8f, 4.0f, 9.1f, 0.625f, 0.3333333f, 2.5f, -2.5f, 1e30f};

using Reference1 = double (*)(double);

void checkF32(const char *op, Reference1 reference, double bound) {
  MathKernel vector(op, "f32", 1, 16), scalar(op, "f32", 1, 0);
  ASSERT_EQ(vector.error, "");
  ASSERT_EQ(scalar.error, "");
  const char *option = std::getenv("MILLRACE_MATH_STRIDE");
  uint64_t stride = option ? std::strtoull(option, nullptr, 10) : 331;
  std::vector<float> x(kCount), y(kCount), z(kCount);
  Worst worst;
  auto flush = [&](bool compareScalar) {
    vector.run(x.data(), nullptr, y.data());
    if (compareScalar)
      scalar.run(x.data(), nullptr, z.data());
    for (int64_t i = 0; i < kCount; ++i) {
      worst.add(ulps<float, double>(y[i], reference(double(x[i]))), x[i]);
      if (compareScalar)
        worst.add(ulps<float, double>(z[i], reference(double(x[i]))), x[i]);
    }
  };
  for (int64_t i = 0; i < kCount; ++i)
    x[i] = kEdges[i % kEdges.size()];
  flush(true);
  uint64_t next = 0;
  while (next < uint64_t(1) << 32) {
    for (int64_t i = 0; i < kCount; ++i, next += stride)
      x[i] = std::bit_cast<float>(uint32_t(next));
    flush(next % 16 == 0);
  }
  std::printf("%-12s f32  %6.3f ULP at %.9g\n", op, worst.error, worst.at);
  EXPECT_LE(worst.error, bound) << op << " at " << worst.at;
}

using ReferenceLong = long double (*)(long double);

void checkF64(const char *op, ReferenceLong reference, double low, double high, double bound) {
  MathKernel vector(op, "f64", 1, 8), scalar(op, "f64", 1, 0);
  ASSERT_EQ(vector.error, "");
  ASSERT_EQ(scalar.error, "");
  std::vector<double> x(kCount), y(kCount), z(kCount);
  std::mt19937_64 random(1);
  Worst worst;
  const std::vector<double> edges = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, -5e-324, 1e-310, -1e-310,
                                     2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 709.78, 709.79,
                                     -745.1, -745.2, 1e-20, -1e-20, 0.9999999999999999, 1.0000000000000002};
  for (int round = 0; round < 100; ++round) {
    for (int64_t i = 0; i < kCount; ++i) {
      if (round == 0)
        x[i] = edges[i % edges.size()];
      else if (round % 2)
        x[i] = std::uniform_real_distribution<double>(low, high)(random);
      else
        x[i] = std::bit_cast<double>(random());
    }
    vector.run(x.data(), nullptr, y.data());
    scalar.run(x.data(), nullptr, z.data());
    for (int64_t i = 0; i < kCount; ++i) {
      worst.add(ulps<double, long double>(y[i], reference(x[i])), x[i]);
      worst.add(ulps<double, long double>(z[i], reference(x[i])), x[i]);
    }
  }
  std::printf("%-12s f64  %6.3f ULP at %.17g\n", op, worst.error, worst.at);
  EXPECT_LE(worst.error, bound) << op << " at " << worst.at;
}

void checkBinaryF32(const char *op, double (*reference)(double, double), double bound) {
  MathKernel vector(op, "f32", 2, 16), scalar(op, "f32", 2, 0);
  ASSERT_EQ(vector.error, "");
  ASSERT_EQ(scalar.error, "");
  std::vector<float> x(kCount), w(kCount), y(kCount), z(kCount);
  std::mt19937 random(2);
  Worst worst;
  auto flush = [&] {
    vector.run(x.data(), w.data(), y.data());
    scalar.run(x.data(), w.data(), z.data());
    for (int64_t i = 0; i < kCount; ++i) {
      double want = reference(x[i], w[i]);
      worst.add(ulps<float, double>(y[i], want), x[i], w[i]);
      worst.add(ulps<float, double>(z[i], want), x[i], w[i]);
    }
  };
  size_t n = kEdges.size();
  for (size_t start = 0; start < n * n; start += kCount) {
    for (int64_t i = 0; i < kCount; ++i) {
      size_t pair = (start + i) % (n * n);
      x[i] = kEdges[pair / n];
      w[i] = kEdges[pair % n];
    }
    flush();
  }
  for (int round = 0; round < 500; ++round) {
    for (int64_t i = 0; i < kCount; ++i) {
      x[i] = std::bit_cast<float>(uint32_t(random()));
      w[i] = round % 2 ? std::bit_cast<float>(uint32_t(random())) : std::uniform_real_distribution<float>(-20, 20)(random);
      if (round % 4 == 2)
        x[i] = std::uniform_real_distribution<float>(0, 4)(random);
    }
    flush();
  }
  std::printf("%-12s f32  %6.3f ULP at %.9g, %.9g\n", op, worst.error, worst.at, worst.at2);
  EXPECT_LE(worst.error, bound) << op << " at " << worst.at << ", " << worst.at2;
}

double rsqrtOf(double x) { return 1 / std::sqrt(x); }

TEST(Accuracy, UnaryF32) {
  checkF32("math.exp", std::exp, 1.5);
  checkF32("math.exp2", std::exp2, 1.0);
  checkF32("math.expm1", std::expm1, 2.0);
  checkF32("math.log", std::log, 1.5);
  checkF32("math.log2", std::log2, 1.0);
  checkF32("math.log10", std::log10, 1.0);
  checkF32("math.log1p", std::log1p, 2.0);
  checkF32("math.tanh", std::tanh, 2.0);
  checkF32("math.sinh", std::sinh, 1.0);
  checkF32("math.cosh", std::cosh, 1.0);
  checkF32("math.erf", std::erf, 2.0);
  checkF32("math.sin", std::sin, 2.0);
  checkF32("math.cos", std::cos, 2.0);
  checkF32("math.tan", std::tan, 1.0);
  checkF32("math.atan", std::atan, 1.0);
  checkF32("math.asin", std::asin, 1.0);
  checkF32("math.acos", std::acos, 1.0);
  checkF32("math.cbrt", std::cbrt, 1.0);
  checkF32("math.rsqrt", rsqrtOf, 1.5);
  checkF32("math.erfc", std::erfc, 1.0);
  checkF32("math.asinh", std::asinh, 1.0);
  checkF32("math.acosh", std::acosh, 1.0);
  checkF32("math.atanh", std::atanh, 1.0);
}

TEST(Accuracy, BinaryF32) {
  checkBinaryF32("math.powf", std::pow, 1.0);
  checkBinaryF32("math.atan2", std::atan2, 1.0);
}

/// Powers of any size of numbers around 1, of powers of two and of any others: where the logarithm is smallest its errors count most.
TEST(Accuracy, PowersF32) {
  MathKernel kernel("math.powf", "f32", 2, 16);
  ASSERT_EQ(kernel.error, "");
  std::vector<float> x(kCount), w(kCount), y(kCount);
  std::mt19937_64 random(6);
  auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  Worst normal, subnormal;
  for (int round = 0; round < 400; ++round) {
    for (int64_t i = 0; i < kCount; ++i) {
      float near1 = 1 + std::ldexp(uniform(-1, 1), -int(random() % 24));
      x[i] = round % 4 == 0 ? std::bit_cast<float>(uint32_t(random()) >> 1) : round % 4 == 1 ? uniform(0.9, 1.1) : near1;
      if (round % 4 == 3)
        x[i] = std::ldexp(x[i], int(random() % 5) - 2);
      // Every fourth round has vectors with numbers that are not usual.
      double exponent = random() % 4 ? uniform(-87, 87) : std::copysign(uniform(80, 86.9), uniform(-1, 1));
      w[i] = (round / 4 % 4 == 3 && random() % 16 == 0 ? uniform(-110, 90) : exponent) / std::log(double(x[i]));
    }
    kernel.run(x.data(), w.data(), y.data());
    for (int64_t i = 0; i < kCount; ++i) {
      double want = std::pow(double(x[i]), double(w[i]));
      (want < std::numeric_limits<float>::min() ? subnormal : normal).add(ulps<float, double>(y[i], want), x[i], w[i]);
    }
  }
  std::printf("%-12s f32  %6.3f ULP at %.9g, %.9g; subnormal %.3f\n", "powers", normal.error, normal.at, normal.at2, subnormal.error);
  EXPECT_LE(normal.error, 0.6) << normal.at << ", " << normal.at2;
  EXPECT_LE(subnormal.error, 1.0) << subnormal.at << ", " << subnormal.at2;
}

/// Remainders are exact. Quotients of a vector that are all small take another way than any others.
template <typename T>
void checkRemainder(const std::string &element, unsigned lanes) {
  MathKernel kernel("arith.remf", element, 2, lanes);
  ASSERT_EQ(kernel.error, "");
  std::mt19937_64 random(4);
  std::vector<T> x(kCount), w(kCount), y(kCount);
  const T limits[] = {0, -T(0), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(), 3, std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
  for (int round = 0; round < 40; ++round) {
    T scale = std::ldexp(T(1), round % 4 == 1 ? std::numeric_limits<T>::min_exponent - 10 : 0);
    for (int64_t i = 0; i < kCount; ++i) {
      x[i] = scale * std::uniform_real_distribution<T>(-1000, 1000)(random);
      w[i] = scale * std::uniform_real_distribution<T>(-20, 20)(random);
      if (round % 4 == 2) // whole quotients, and such that are rounded to one
        x[i] = std::nextafter(w[i] * T(random() % 1000), T(random() % 2 ? 1000000 : -1000000));
      if (round % 4 == 3)
        x[i] = limits[random() % 8], w[i] = (random() % 2 ? 1 : -1) * limits[random() % 8];
    }
    kernel.run(x.data(), w.data(), y.data());
    for (int64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(ulps<T>(y[i], std::fmod(x[i], w[i])), 0) << x[i] << ", " << w[i];
  }
}

/// All elements divided by one number, in a loop: the very bits of a division, whatever the numbers are.
TEST(Accuracy, DivisionByOneNumber) {
  MathKernel kernel("arith.divf", "f32", 2, 16, /*oneNumber=*/true);
  ASSERT_EQ(kernel.error, "");
  std::vector<float> x(kCount), divisor(kCount), quotients(kCount);
  std::mt19937 random(3);
  auto anyFloat = [&] { return std::bit_cast<float>(uint32_t(random())); };
  // Of all bits, few of them, all but few: quotients next to the middle between two numbers are among them.
  auto usual = [&](int exponents) {
    uint32_t significand = uint32_t(random()) >> 9;
    if (unsigned kind = random() % 4; kind == 1)
      significand &= random() & random() & random();
    else if (kind == 2)
      significand |= 0x7fffff & (random() | random() | random());
    int exponent = int(random() % unsigned(2 * exponents)) - exponents;
    return std::bit_cast<float>((uint32_t(random()) & 0x80000000u) | uint32_t(exponent + 127) << 23 | significand);
  };
  int64_t wrong = 0;
  for (int round = 0; round < 4000; ++round) {
    divisor[0] = round < int(kEdges.size()) ? kEdges[round] : round % 8 ? usual(26) : anyFloat();
    for (int64_t i = 0; i < kCount; ++i)
      x[i] = i < int64_t(kEdges.size()) ? kEdges[i] : i % 1024 < 64 ? anyFloat() : usual(i % 512 < 256 ? 101 : 3);
    kernel.run(x.data(), divisor.data(), quotients.data());
    for (int64_t i = 0; i < kCount; ++i) {
      float want = x[i] / divisor[0];
      bool same = std::isnan(want) ? std::isnan(quotients[i]) : std::bit_cast<uint32_t>(want) == std::bit_cast<uint32_t>(quotients[i]);
      if (!same && wrong++ < 10)
        ADD_FAILURE() << x[i] << " / " << divisor[0] << " is " << want << ", not " << quotients[i];
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Accuracy, Remainder) {
  checkRemainder<float>("f32", 8);
  checkRemainder<float>("f32", 0);
  checkRemainder<double>("f64", 4);
}

TEST(Accuracy, UnaryF64) {
  checkF64("math.exp", std::exp, -50, 50, 1.5);
  checkF64("math.log", std::log, 0.5, 2, 1.5);
  checkF64("math.tanh", std::tanh, -3, 3, 1.5);
  checkF64("math.sin", std::sin, -100, 100, 1.0);
  checkF64("math.cbrt", std::cbrt, -100, 100, 1.0);
  checkF64("math.expm1", std::expm1, -1, 1, 1.0);
  checkF64("math.expm1", std::expm1, -40, 800, 1.0);
  checkF64("math.cos", std::cos, -100, 100, 1.0);
  checkF64("math.sin", std::sin, -6e7, 6e7, 1.0); // the last that are not left to the library among them
  checkF64("math.cos", std::cos, -6e7, 6e7, 1.0);
  checkF64("math.atan", std::atan, -3, 3, 1.0);
  checkF64("math.log1p", std::log1p, -1, 3, 1.5);
  checkF64("math.exp", std::exp, -760, -700, 1.5);
}

double roundTo(double value, int digits, int minExponent) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent;
  std::frexp(value, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - digits, minExponent - digits));
  return std::nearbyint(value / unit) * unit;
}

/// All bit patterns of bf16: the function of the exact value, rounded once or within one place of that.
TEST(Accuracy, BFloat16) {
  struct Case {
    const char *op;
    Reference1 reference;
  };
  for (Case c : {Case{"math.exp", std::exp}, Case{"math.log", std::log}, Case{"math.tanh", std::tanh},
                 Case{"math.sqrt", std::sqrt}, Case{"math.floor", std::floor}, Case{"math.sin", std::sin}}) {
    MathKernel kernel(c.op, "bf16", 1, 16);
    ASSERT_EQ(kernel.error, "");
    std::vector<uint16_t> x(kCount), y(kCount);
    auto widen = [](uint16_t bits) { return double(std::bit_cast<float>(uint32_t(bits) << 16)); };
    for (unsigned start = 0; start < 65536; start += kCount) {
      for (int64_t i = 0; i < kCount; ++i)
        x[i] = start + i;
      kernel.run(x.data(), nullptr, y.data());
      for (int64_t i = 0; i < kCount; ++i) {
        double want = roundTo(c.reference(widen(x[i])), 8, -125), got = widen(y[i]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got)) << c.op << " of " << widen(x[i]);
          continue;
        }
        if (std::fabs(want) > 3.3895313892515355e38) {
          ASSERT_TRUE(std::isinf(got)) << c.op << " of " << widen(x[i]);
          continue;
        }
        ASSERT_LE(std::fabs(got - want), std::fabs(want) * 0.0079 + 1e-40) << c.op << " of " << widen(x[i]);
      }
    }
  }
}

} // namespace
} // namespace millrace::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementTest.cpp - Formats and rounding against llvm::APFloat -------===//
#include "dialects/stablehlo/eval/Checks.h"
#include "dialects/stablehlo/eval/Element.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace millrace::eval;
using llvm::APFloat;
using llvm::APInt;

namespace {

struct Format {
  Kind kind;
  const llvm::fltSemantics &semantics;
  const char *name;
};
const Format formats[] = {
    {Kind::F4E2M1FN, APFloat::Float4E2M1FN(), "f4E2M1FN"},
    {Kind::F6E2M3FN, APFloat::Float6E2M3FN(), "f6E2M3FN"},
    {Kind::F6E3M2FN, APFloat::Float6E3M2FN(), "f6E3M2FN"},
    {Kind::F8E3M4, APFloat::Float8E3M4(), "f8E3M4"},
    {Kind::F8E4M3, APFloat::Float8E4M3(), "f8E4M3"},
    {Kind::F8E4M3FN, APFloat::Float8E4M3FN(), "f8E4M3FN"},
    {Kind::F8E4M3FNUZ, APFloat::Float8E4M3FNUZ(), "f8E4M3FNUZ"},
    {Kind::F8E4M3B11FNUZ, APFloat::Float8E4M3B11FNUZ(), "f8E4M3B11FNUZ"},
    {Kind::F8E5M2, APFloat::Float8E5M2(), "f8E5M2"},
    {Kind::F8E5M2FNUZ, APFloat::Float8E5M2FNUZ(), "f8E5M2FNUZ"},
    {Kind::F8E8M0FNU, APFloat::Float8E8M0FNU(), "f8E8M0FNU"},
    {Kind::F16, APFloat::IEEEhalf(), "f16"},
    {Kind::BF16, APFloat::BFloat(), "bf16"},
};

double valueOf(const APFloat &value) {
  // f8E8M0FNU's NaN has no fraction bits: widened by APFloat it would read as infinity.
  if (value.isNaN()) return std::numeric_limits<double>::quiet_NaN();
  APFloat wide = value;
  bool lost;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return wide.convertToDouble();
}

double load(Kind kind, uint64_t bits) {
  char bytes[8];
  std::memcpy(bytes, &bits, 8);
  return loadFloat(kind, bytes);
}

uint64_t store(Kind kind, double value) {
  uint64_t bits = 0;
  storeFloat(kind, reinterpret_cast<char *>(&bits), value);
  return bits;
}

// Every bit pattern of every format means what APFloat says, and storing its value gives it back.
TEST(Element, LoadsEveryBitPattern) {
  for (const Format &format : formats) {
    unsigned width = bitWidth(format.kind);
    for (uint64_t bits = 0; bits < (uint64_t(1) << width); ++bits) {
      double expected = valueOf(APFloat(format.semantics, APInt(width, bits))), actual = load(format.kind, bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(actual)) << format.name << " " << bits;
        continue;
      }
      EXPECT_EQ(actual, expected) << format.name << " " << bits;
      EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << format.name << " " << bits;
      EXPECT_EQ(store(format.kind, actual), bits) << format.name;
    }
  }
}

// Random doubles around every magnitude, and the ties between neighbouring values, round as APFloat rounds them.
TEST(Element, RoundsAsApFloat) {
  std::mt19937_64 random(1);
  for (const Format &format : formats) {
    unsigned width = bitWidth(format.kind);
    auto check = [&](double value) {
      if (format.kind == Kind::F8E8M0FNU && !(value > 0)) return;
      APFloat rounded(value);
      bool lost;
      rounded.convert(format.semantics, APFloat::rmNearestTiesToEven, &lost);
      double expected = valueOf(rounded), actual = load(format.kind, store(format.kind, value));
      if (std::isnan(expected)) EXPECT_TRUE(std::isnan(actual)) << format.name << " " << value;
      else EXPECT_EQ(actual, expected) << format.name << " " << value;
    };
    for (int i = 0; i < 20000; ++i) {
      int exponent = static_cast<int>(random() % 320) - 160;
      if (width <= 8 && format.kind != Kind::F8E8M0FNU) exponent /= 8;
      double magnitude = std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52), exponent);
      check(random() & 1 ? magnitude : -magnitude);
    }
    for (uint64_t bits = 0; bits + 1 < (uint64_t(1) << (width - 1)); bits += width == 16 ? 7 : 1) {
      double a = load(format.kind, bits), b = load(format.kind, bits + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      check((a + b) / 2);
      check(std::nextafter((a + b) / 2, b));
    }
  }
}

// Formats without NaN or infinity: saturation and negative zero, as the OCP MX specification allows and ml_dtypes does.
TEST(Element, FormatsWithoutInfinity) {
  double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(store(Kind::F4E2M1FN, infinity), 0x7u);
  EXPECT_EQ(store(Kind::F4E2M1FN, -1e300), 0xfu);
  EXPECT_EQ(store(Kind::F6E3M2FN, nan), 0x20u);
  EXPECT_EQ(store(Kind::F8E4M3FN, infinity), 0x7fu);
  EXPECT_EQ(store(Kind::F8E5M2, infinity), 0x7cu);
  EXPECT_EQ(store(Kind::F8E4M3FNUZ, -0.0), 0x00u);
  EXPECT_EQ(store(Kind::F8E8M0FNU, -1.0), 0xffu);
}

// A 64-bit integer just above a tie of f32 lies on the tie once it is a double.
TEST(Element, RoundToOddAvoidsDoubleRounding) {
  long double above = 9223372586610589697.0L; // 2^63 + 2^39 + 1
  EXPECT_EQ(static_cast<float>(static_cast<double>(above)), 0x1p63f);
  EXPECT_EQ(static_cast<float>(roundToOdd(above)), 0x1.000002p63f);
}

TEST(Element, IntegersWrapAndSaturate) {
  EXPECT_EQ(wrapInt(Kind::I8, 128), -128);
  EXPECT_EQ(wrapInt(Kind::U8, -1), 255);
  EXPECT_EQ(wrapInt(Kind::I4, 9), -7);
  EXPECT_EQ(wrapInt(Kind::I64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(floatToInt(Kind::I32, 1e10), INT32_MAX);
  EXPECT_EQ(floatToInt(Kind::I64, 1e30), INT64_MAX);
  EXPECT_EQ(floatToInt(Kind::I64, -1e30), INT64_MIN);
  EXPECT_EQ(static_cast<uint64_t>(floatToInt(Kind::U64, 1e30)), UINT64_MAX);
  EXPECT_EQ(static_cast<uint64_t>(floatToInt(Kind::U64, 0x1p63)), uint64_t(1) << 63);
  EXPECT_EQ(floatToInt(Kind::U8, -3.0), 0);
  EXPECT_EQ(floatToInt(Kind::I16, std::nan("")), 0);
}

TEST(Checks, UlpDistance) {
  auto distance = [](float a, float b) {
    return ulpDistance(Kind::F32, reinterpret_cast<const char *>(&a), reinterpret_cast<const char *>(&b));
  };
  EXPECT_EQ(distance(1.0f, std::nextafter(1.0f, 2.0f)), 1u);
  EXPECT_EQ(distance(0.0f, -0.0f), 0u);
  EXPECT_EQ(distance(0x1p-149f, -0x1p-149f), 2u);
  EXPECT_EQ(distance(std::nanf("1"), std::nanf("2")), 0u);
  EXPECT_EQ(distance(INFINITY, 0x1.fffffep127f), UINT64_MAX);
  EXPECT_EQ(distance(INFINITY, -INFINITY), UINT64_MAX);
  EXPECT_EQ(distance(INFINITY, std::nanf("1")), UINT64_MAX);
  EXPECT_EQ(distance(INFINITY, INFINITY), 0u);
}

} // namespace

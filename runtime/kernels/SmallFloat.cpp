// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallFloat.cpp - Float formats of at most 16 bits -------------------===//
#include "runtime/kernels/SmallFloat.h"

#include <bit>
#include <cmath>
#include <limits>

namespace millrace::runtime {
namespace {

/// Which bit patterns are not numbers.
enum class Special : uint8_t {
  Ieee,        // top exponent: infinity and NaN
  NanOnly,     // all ones: NaN; no infinity ("FN")
  NegZeroNan,  // the pattern of -0 is the only NaN ("FNUZ")
  None,        // every pattern is a finite number
  ExponentOnly // f8E8M0FNU: 2^(x-127), all ones: NaN
};
struct Format {
  int exponentBits, mantissaBits, bias;
  Special special;
};

Format formatOf(DType type) {
  switch (type) {
  case DType::F4E2M1FN: return {2, 1, 1, Special::None};
  case DType::F6E2M3FN: return {2, 3, 1, Special::None};
  case DType::F6E3M2FN: return {3, 2, 3, Special::None};
  case DType::F8E3M4: return {3, 4, 3, Special::Ieee};
  case DType::F8E4M3: return {4, 3, 7, Special::Ieee};
  case DType::F8E4M3FN: return {4, 3, 7, Special::NanOnly};
  case DType::F8E4M3FNUZ: return {4, 3, 8, Special::NegZeroNan};
  case DType::F8E4M3B11FNUZ: return {4, 3, 11, Special::NegZeroNan};
  case DType::F8E5M2: return {5, 2, 15, Special::Ieee};
  case DType::F8E5M2FNUZ: return {5, 2, 16, Special::NegZeroNan};
  case DType::F8E8M0FNU: return {8, 0, 127, Special::ExponentOnly};
  case DType::BF16: return {8, 7, 127, Special::Ieee};
  case DType::F16: return {5, 10, 15, Special::Ieee};
  case DType::F32: return {8, 23, 127, Special::Ieee};
  default: return {11, 52, 1023, Special::Ieee};
  }
}

uint64_t signBit(const Format &f) {
  return f.special == Special::ExponentOnly ? 0 : uint64_t(1) << (f.exponentBits + f.mantissaBits);
}

uint64_t largestFinite(const Format &f) {
  uint64_t all = (uint64_t(1) << (f.exponentBits + f.mantissaBits)) - 1;
  switch (f.special) {
  case Special::Ieee: return all - (uint64_t(1) << f.mantissaBits);
  case Special::NanOnly:
  case Special::ExponentOnly: return all - 1;
  default: return all;
  }
}

double finiteValue(const Format &f, uint64_t magnitude) {
  if (f.special == Special::ExponentOnly)
    return std::ldexp(1.0, int(magnitude) - f.bias);
  uint64_t exponent = magnitude >> f.mantissaBits, mantissa = magnitude & ((uint64_t(1) << f.mantissaBits) - 1);
  if (exponent == 0)
    return std::ldexp(double(mantissa), 1 - f.bias - f.mantissaBits);
  return std::ldexp(double(mantissa | (uint64_t(1) << f.mantissaBits)), int(exponent) - f.bias - f.mantissaBits);
}

} // namespace

bool isNan(DType type, uint64_t bits) {
  Format f = formatOf(type);
  uint64_t magnitude = bits & ((uint64_t(1) << (f.exponentBits + f.mantissaBits)) - 1);
  switch (f.special) {
  case Special::Ieee: return magnitude > largestFinite(f) + 1;
  case Special::NanOnly:
  case Special::ExponentOnly: return magnitude > largestFinite(f);
  case Special::NegZeroNan: return bits == signBit(f);
  case Special::None: return false;
  }
  return false;
}

bool isInfinity(DType type, uint64_t bits) {
  Format f = formatOf(type);
  return f.special == Special::Ieee && (bits & ~signBit(f)) == largestFinite(f) + 1;
}

double decodeFloat(DType type, uint64_t bits) {
  if (type == DType::F64)
    return std::bit_cast<double>(bits);
  if (type == DType::F32)
    return double(std::bit_cast<float>(uint32_t(bits)));
  Format f = formatOf(type);
  double sign = bits & signBit(f) ? -1.0 : 1.0;
  if (isNan(type, bits))
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (isInfinity(type, bits))
    return sign * std::numeric_limits<double>::infinity();
  return sign * finiteValue(f, bits & ~signBit(f));
}

uint64_t encodeFloat(DType type, double value) {
  if (type == DType::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == DType::F32)
    return std::bit_cast<uint32_t>(float(value));
  Format f = formatOf(type);
  uint64_t top = largestFinite(f), sign = std::signbit(value) ? signBit(f) : 0;
  uint64_t nan = f.special == Special::NegZeroNan ? signBit(f)
                 : f.special == Special::Ieee
                     ? (top + 1) | (uint64_t(1) << (f.mantissaBits - 1)) | sign
                 : f.special == Special::ExponentOnly ? 0xff
                                                      : (top + 1) | sign;
  if (std::isnan(value))
    return f.special == Special::None ? sign : nan;
  double magnitude = std::fabs(value);
  if (f.special == Special::ExponentOnly && (value <= 0.0))
    return value == 0.0 ? 0 : nan;
  // A binary search finds the neighbours; ties go to the even pattern. One step beyond the largest value decides about overflow.
  uint64_t low = 0, high = top;
  if (magnitude > finiteValue(f, top)) {
    double step = finiteValue(f, top) - (top ? finiteValue(f, top - 1) : 0);
    if (f.special == Special::ExponentOnly)
      step = finiteValue(f, top);
    bool rounds = magnitude < finiteValue(f, top) + step / 2 ||
                  (magnitude == finiteValue(f, top) + step / 2 && top % 2 == 0);
    if (rounds || f.special == Special::None)
      return top | sign;
    return f.special == Special::Ieee ? (top + 1) | sign : nan;
  }
  while (low < high) {
    uint64_t middle = (low + high + 1) / 2;
    if (finiteValue(f, middle) <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  double below = finiteValue(f, low);
  uint64_t result = low;
  if (below != magnitude && low < top) {
    double above = finiteValue(f, low + 1);
    double toBelow = magnitude - below, toAbove = above - magnitude;
    if (toAbove < toBelow || (toAbove == toBelow && low % 2 == 1))
      result = low + 1;
  }
  if (result == 0 && f.special == Special::NegZeroNan)
    return 0;
  return result | sign;
}

int64_t floatOrdinal(DType type, uint64_t bits) {
  Format f = formatOf(type);
  uint64_t sign = type == DType::F64 ? uint64_t(1) << 63 : signBit(f);
  int64_t magnitude = int64_t(bits & ~sign);
  return sign && (bits & sign) ? -magnitude : magnitude;
}

} // namespace millrace::runtime

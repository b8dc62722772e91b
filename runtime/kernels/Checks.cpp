// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Checks.cpp - check.expect_* custom calls ----------------------------===//
#include "runtime/kernels/Checks.h"
#include "runtime/kernels/SmallFloat.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

namespace millrace::runtime {
namespace {

enum class Check { Eq, Close, AlmostEq };

uint64_t load(const void *element, size_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, bytes);
  return bits;
}

struct Limits {
  uint64_t minUlp = 0, maxUlp = 3;
  double tolerance = 1e-3;
};

/// Returns the number of steps between neighbouring values of the type from one value to the other; 2^64 - 1 if only one of them is a NaN, or if an
/// infinity is compared with another value.
uint64_t ulpDistance(DType type, uint64_t a, uint64_t b) {
  bool aNan = isNan(type, a), bNan = isNan(type, b);
  if (aNan || bNan)
    return aNan && bNan ? 0 : UINT64_MAX;
  if (isInfinity(type, a) || isInfinity(type, b))
    return a == b ? 0 : UINT64_MAX;
  int64_t x = floatOrdinal(type, a), y = floatOrdinal(type, b);
  return x > y ? uint64_t(x) - uint64_t(y) : uint64_t(y) - uint64_t(x);
}

bool floatsMatch(Check check, DType type, uint64_t a, uint64_t b, const Limits &limits) {
  bool aNan = isNan(type, a), bNan = isNan(type, b);
  if (check == Check::Eq)
    return !aNan && !bNan && decodeFloat(type, a) == decodeFloat(type, b);
  if (aNan || bNan)
    return aNan && bNan;
  if (isInfinity(type, a) || isInfinity(type, b))
    return a == b;
  return std::fabs(decodeFloat(type, a) - decodeFloat(type, b)) <= limits.tolerance;
}

bool inRange(uint64_t distance, const Limits &limits) { return distance >= limits.minUlp && distance <= limits.maxUlp; }

bool elementsMatch(Check check, DType type, const uint8_t *a, const uint8_t *b, const Limits &limits) {
  size_t bytes = byteSize(type);
  if (isComplex(type)) {
    DType part = type == DType::C64 ? DType::F32 : DType::F64;
    size_t half = bytes / 2;
    if (check == Check::Close)
      return inRange(std::max(ulpDistance(part, load(a, half), load(b, half)), ulpDistance(part, load(a + half, half), load(b + half, half))),
                     limits);
    return floatsMatch(check, part, load(a, half), load(b, half), limits) &&
           floatsMatch(check, part, load(a + half, half), load(b + half, half), limits);
  }
  if (isFloat(type) && check == Check::Close)
    return inRange(ulpDistance(type, load(a, bytes), load(b, bytes)), limits);
  if (isFloat(type))
    return floatsMatch(check, type, load(a, bytes), load(b, bytes), limits);
  return load(a, bytes) == load(b, bytes);
}

Status runCheck(Check check, const CustomCall &call) {
  if (call.arguments.size() != 2)
    return invalidArgument("expects 2 operands, but got " + std::to_string(call.arguments.size()));
  const TensorView &actual = call.arguments[0], &expected = call.arguments[1];
  if (actual.dtype != expected.dtype || actual.dims != expected.dims)
    return invalidArgument("the operands have different types");
  Limits limits;
  auto number = [&](const char *name, auto &target) {
    const Attribute *a = call.attribute(name);
    if (a && !a->ints.empty())
      target = decltype(+target)(a->ints[0]);
    else if (a && !a->floats.empty())
      target = decltype(+target)(a->floats[0]);
  };
  number("min_ulp_difference", limits.minUlp);
  number("max_ulp_difference", limits.maxUlp);
  number("tolerance", limits.tolerance);
  size_t bytes = byteSize(actual.dtype);
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0, n = actual.elements(); bytes && i < n; ++i)
    if (!elementsMatch(check, actual.dtype, static_cast<uint8_t *>(actual.data) + i * bytes,
                       static_cast<uint8_t *>(expected.data) + i * bytes, limits)) {
      if (first < 0)
        first = i;
      ++wrong;
    }
  if (wrong == 0)
    return Status();
  std::string index;
  int64_t rest = first;
  for (size_t d = actual.dims.size(); d-- > 0;) {
    index = std::to_string(rest % actual.dims[d]) + (index.empty() ? "" : ", ") + index;
    rest /= actual.dims[d];
  }
  return failedPrecondition("expects element [" + index + "] to be " +
                            elementToText(expected.dtype, static_cast<uint8_t *>(expected.data) + first * bytes) +
                            ", but got " +
                            elementToText(actual.dtype, static_cast<uint8_t *>(actual.data) + first * bytes) + " (" +
                            std::to_string(wrong) + " of " + std::to_string(actual.elements()) +
                            " elements differ)");
}

} // namespace

std::string elementToText(DType type, const void *element) {
  size_t bytes = byteSize(type);
  if (bytes == 0)
    return "token";
  if (isComplex(type)) {
    DType part = type == DType::C64 ? DType::F32 : DType::F64;
    return "(" + elementToText(part, element) + ", " +
           elementToText(part, static_cast<const uint8_t *>(element) + bytes / 2) + ")";
  }
  uint64_t bits = load(element, bytes);
  if (isFloat(type)) {
    char text[40];
    int digits = type == DType::F64 ? 17 : type == DType::F32 ? 9 : 5;
    return {text, std::to_chars(text, std::end(text), decodeFloat(type, bits), std::chars_format::general, digits).ptr};
  }
  if (type == DType::I1)
    return bits ? "true" : "false";
  if (isSigned(type)) {
    int64_t value = int64_t(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);
    return std::to_string(value);
  }
  return std::to_string(bits);
}

std::vector<std::pair<std::string, CustomCallHandler>> checkCustomCalls() {
  auto make = [](Check check) { return [check](const CustomCall &call) { return runCheck(check, call); }; };
  return {{"check.expect_eq", make(Check::Eq)},
          {"check.expect_close", make(Check::Close)},
          {"check.expect_almost_eq", make(Check::AlmostEq)}};
}

} // namespace millrace::runtime

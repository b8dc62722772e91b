// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reciprocal.h - Quotients by a constant as products -----------------===//
#pragma once

#include <optional>

namespace millrace::lowering {

/// 1 / c in two parts of the same sign, such that fma(x, high, x * low) is x / c to the last bit for every x that is zero, infinite, NaN, or at
/// least 2^leastExponent in magnitude.
template <typename T>
struct Reciprocal {
  T high, low;
  int leastExponent;
};

/// Nothing for powers of two (one product is exact), numbers far from 1, and some others for which two operations do not do. T is float or double.
template <typename T>
std::optional<Reciprocal<T>> reciprocalOf(T c);

} // namespace millrace::lowering

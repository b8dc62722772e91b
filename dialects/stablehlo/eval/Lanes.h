// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lanes.h - Lane types for accumulating products ----------------------===//
// Contractions multiply and add like XLA:CPU: f32 and f64 in their own precision, one product after the other; f16, bf16 and narrower floats in
// double, rounded once at the end; integers in int64_t, which wraps as the result type does.
#pragma once

#include "dialects/stablehlo/eval/Tensor.h"

namespace millrace::eval {

using LongComplex = std::complex<long double>;

template <typename T>
llvm::SmallVector<T, 0> lanesOf(const Tensor &tensor) {
  llvm::SmallVector<T, 0> lanes;
  lanes.reserve(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if constexpr (std::is_same_v<T, int64_t>) {
      lanes.push_back(tensor.getInt(i));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (isInteger(tensor.kind()))
        lanes.push_back(isUnsigned(tensor.kind()) ? static_cast<T>(static_cast<uint64_t>(tensor.getInt(i)))
                                                  : static_cast<T>(tensor.getInt(i)));
      else
        lanes.push_back(tensor.getFloat(i));
    } else {
      using Part = typename T::value_type;
      if (isComplex(tensor.kind())) {
        Complex value = tensor.getComplex(i);
        lanes.push_back(T(static_cast<Part>(value.real()), static_cast<Part>(value.imag())));
      } else {
        lanes.push_back(T(static_cast<Part>(tensor.getFloat(i)), Part(0)));
      }
    }
  }
  return lanes;
}

/// Stores a lane, rounding once.
template <typename T>
void storeLane(Kind kind, char *p, T value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (kind == Kind::I1) storeInt(kind, p, value != 0);
    else storeInt(kind, p, value);
  } else if constexpr (std::is_same_v<T, long double>) {
    storeLongFloat(kind, p, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    storeFloat(kind, p, value);
  } else {
    storeComplex(kind, p, Complex(static_cast<double>(value.real()), static_cast<double>(value.imag())));
  }
}

/// Returns acc + a * b, by the textbook formula for complex numbers.
template <typename T>
void multiplyAdd(T &acc, T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    acc = static_cast<int64_t>(static_cast<uint64_t>(acc) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    acc += a * b;
  } else {
    acc += T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  }
}

/// Calls `body` with a null pointer of the lane type that accumulates `kind`.
template <typename Body>
auto withLane(Kind kind, Body body) {
  if (isInteger(kind)) return body(static_cast<int64_t *>(nullptr));
  if (kind == Kind::F32) return body(static_cast<float *>(nullptr));
  if (isFloat(kind)) return body(static_cast<double *>(nullptr));
  if (kind == Kind::C64) return body(static_cast<std::complex<float> *>(nullptr));
  return body(static_cast<Complex *>(nullptr));
}

} // namespace millrace::eval

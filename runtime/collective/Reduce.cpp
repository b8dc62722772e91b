// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduce.cpp - Elementwise reductions for every type ------------------===//
#include "runtime/collective/Collective.h"
#include "runtime/kernels/SmallFloat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

namespace millrace::runtime {
namespace {

using Reduction = CollectiveStep::Reduction;

/// Combines integers: computes on the unsigned type, which wraps around, and compares on the type itself.
template <typename T, typename U>
T combineIntegers(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::Sum: return T(U(U(a) + U(b)));
  case Reduction::Product: return T(U(uint64_t(U(a)) * uint64_t(U(b))));
  case Reduction::Min: return a < b ? a : b;
  case Reduction::Max: return a > b ? a : b;
  case Reduction::And: return T(a & b);
  case Reduction::Or: return T(a | b);
  case Reduction::Xor: return T(a ^ b);
  case Reduction::None: break;
  }
  return a;
}

template <typename T>
T combineFloats(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::Sum: return a + b;
  case Reduction::Product: return a * b;
  case Reduction::Min: return a != a || b != b ? a + b : a < b || (a == b && std::signbit(a)) ? a : b;
  case Reduction::Max: return a != a || b != b ? a + b : a > b || (a == b && std::signbit(b)) ? a : b;
  default: return a;
  }
}

template <typename T, typename Combine>
[[gnu::always_inline]] inline void loop(const void *lhs, const void *rhs, void *out, int64_t n, Combine combine) {
  const T *a = static_cast<const T *>(lhs), *b = static_cast<const T *>(rhs);
  T *c = static_cast<T *>(out);
  if (a == c) { // two streams that do not overlap, which the compiler can vectorize
    for (int64_t i = 0; i < n; ++i)
      c[i] = combine(c[i], b[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    c[i] = combine(a[i], b[i]);
}

/// Calls `body` with the reduction as a constant, so that the loops contain no switch.
template <typename Body>
[[gnu::always_inline]] inline void withConstant(Reduction reduction, Body body) {
  switch (reduction) {
  case Reduction::Sum: return body(std::integral_constant<Reduction, Reduction::Sum>());
  case Reduction::Product: return body(std::integral_constant<Reduction, Reduction::Product>());
  case Reduction::Min: return body(std::integral_constant<Reduction, Reduction::Min>());
  case Reduction::Max: return body(std::integral_constant<Reduction, Reduction::Max>());
  case Reduction::And: return body(std::integral_constant<Reduction, Reduction::And>());
  case Reduction::Or: return body(std::integral_constant<Reduction, Reduction::Or>());
  case Reduction::Xor: return body(std::integral_constant<Reduction, Reduction::Xor>());
  case Reduction::None: return;
  }
}

template <typename T, typename U>
void integers(Reduction reduction, const void *lhs, const void *rhs, void *out, int64_t n) {
  withConstant(reduction, [=](auto constant) {
    loop<T>(lhs, rhs, out, n, [](T a, T b) { return combineIntegers<T, U>(decltype(constant)::value, a, b); });
  });
}

template <typename T>
void floats(Reduction reduction, const void *lhs, const void *rhs, void *out, int64_t n) {
  withConstant(reduction, [=](auto constant) {
    loop<T>(lhs, rhs, out, n, [](T a, T b) { return combineFloats<T>(decltype(constant)::value, a, b); });
  });
}

/// Restores the canonical form of narrow integers after they have wrapped around.
template <typename T>
void narrowIntegers(Reduction reduction, unsigned bits, const void *lhs, const void *rhs, void *out, int64_t n) {
  unsigned shift = 8 - bits;
  loop<T>(lhs, rhs, out, n, [=](T a, T b) {
    T value = combineIntegers<T, uint8_t>(reduction, a, b);
    return T(T(uint8_t(uint8_t(value) << shift)) >> shift);
  });
}

/// The two formats of 16 bits in which programs sum whole gradients. Every sum is computed in f32, whose 24 bits of mantissa make double rounding
/// harmless, and rounded to the format (ties to even).
struct Brain {
  static float value(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
  static uint16_t round(float value) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    return uint16_t(value != value ? quiet : rounded);
  }
};
struct Half {
  static float value(uint16_t bits) { return float(std::bit_cast<_Float16>(bits)); }
  static uint16_t round(float value) { return std::bit_cast<uint16_t>(_Float16(value)); }
};

template <typename Format>
[[gnu::always_inline]] inline void halves(Reduction reduction, const void *lhs, const void *rhs, void *out, int64_t n) {
  withConstant(reduction, [=](auto constant) {
    loop<uint16_t>(lhs, rhs, out, n, [](uint16_t a, uint16_t b) {
      return Format::round(combineFloats<float>(decltype(constant)::value, Format::value(a), Format::value(b)));
    });
  });
}

void sixteenBits(Reduction reduction, DType type, const void *lhs, const void *rhs, void *out, int64_t n) {
  type == DType::BF16 ? halves<Brain>(reduction, lhs, rhs, out, n) : halves<Half>(reduction, lhs, rhs, out, n);
}

#ifdef __x86_64__
/// Is compiled for processors with instructions that convert f16, and with vectors that are wide enough to be worth it for bf16.
[[gnu::target("avx2,f16c")]] void wideSixteenBits(Reduction reduction, DType type, const void *lhs, const void *rhs,
                                                  void *out, int64_t n) {
  type == DType::BF16 ? halves<Brain>(reduction, lhs, rhs, out, n) : halves<Half>(reduction, lhs, rhs, out, n);
}
bool hasWide() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return has;
}
#else
constexpr auto wideSixteenBits = sixteenBits;
bool hasWide() { return false; }
#endif

template <typename T>
void smallFloats(Reduction reduction, DType type, const void *lhs, const void *rhs, void *out, int64_t n) {
  withConstant(reduction, [=](auto constant) {
    loop<T>(lhs, rhs, out, n, [=](T a, T b) {
      return T(encodeFloat(type, combineFloats(decltype(constant)::value, decodeFloat(type, a), decodeFloat(type, b))));
    });
  });
}

template <typename T>
bool complexes(Reduction reduction, const void *lhs, const void *rhs, void *out, int64_t n) {
  using C = std::complex<T>;
  if (reduction == Reduction::Sum)
    floats<T>(reduction, lhs, rhs, out, 2 * n);
  else if (reduction == Reduction::Product)
    loop<C>(lhs, rhs, out, n, [](C a, C b) { return a * b; });
  else
    return false;
  return true;
}

template <typename T>
[[gnu::always_inline]] inline void sums(const std::vector<const void *> &operands, void *out, int64_t n) {
  constexpr int64_t line = 128 / sizeof(T); // two cache lines of each operand at a time
  using Vector [[gnu::vector_size(128), gnu::aligned(sizeof(T))]] = T;
  T *result = static_cast<T *>(out);
  int64_t i = 0;
  for (; i + line <= n; i += line) {
    Vector sum = *reinterpret_cast<const Vector *>(static_cast<const T *>(operands[0]) + i);
    for (size_t k = 1; k < operands.size(); ++k)
      sum += *reinterpret_cast<const Vector *>(static_cast<const T *>(operands[k]) + i);
    *reinterpret_cast<Vector *>(result + i) = sum;
  }
  for (; i < n; ++i) {
    T sum = static_cast<const T *>(operands[0])[i];
    for (size_t k = 1; k < operands.size(); ++k)
      sum += static_cast<const T *>(operands[k])[i];
    result[i] = sum;
  }
}

/// Sums values of 16 bits in f32 and rounds once.
template <typename Format>
[[gnu::always_inline]] inline void halfSums(const std::vector<const void *> &operands, void *out, int64_t n) {
  constexpr int64_t block = 64;
  for (int64_t begin = 0; begin < n; begin += block) {
    const int64_t count = std::min(block, n - begin);
    float sum[block];
    for (int64_t i = 0; i < count; ++i)
      sum[i] = Format::value(static_cast<const uint16_t *>(operands[0])[begin + i]);
    for (size_t k = 1; k < operands.size(); ++k)
      for (int64_t i = 0; i < count; ++i)
        sum[i] += Format::value(static_cast<const uint16_t *>(operands[k])[begin + i]);
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint16_t *>(out)[begin + i] = Format::round(sum[i]);
  }
}

#ifdef __x86_64__
template <typename Format>
[[gnu::target("avx2,f16c")]] void wideHalfSums(const std::vector<const void *> &operands, void *out, int64_t n) {
  halfSums<Format>(operands, out, n);
}
#else
template <typename Format>
void wideHalfSums(const std::vector<const void *> &operands, void *out, int64_t n) { halfSums<Format>(operands, out, n); }
#endif

template <typename Format>
void halfSumsOf(const std::vector<const void *> &operands, void *out, int64_t n) {
  hasWide() ? wideHalfSums<Format>(operands, out, n) : halfSums<Format>(operands, out, n);
}

#ifdef __x86_64__
template <typename T>
[[gnu::target("avx2")]] void wideSums(const std::vector<const void *> &operands, void *out, int64_t n) {
  sums<T>(operands, out, n);
}
#else
template <typename T>
void wideSums(const std::vector<const void *> &operands, void *out, int64_t n) { sums<T>(operands, out, n); }
#endif

template <typename T>
void sumsOf(const std::vector<const void *> &operands, void *out, int64_t n) {
  hasWide() ? wideSums<T>(operands, out, n) : sums<T>(operands, out, n);
}

} // namespace

bool sumElements(DType type, const std::vector<const void *> &operands, void *out, int64_t n) {
  if (operands.size() < 2)
    return false;
  switch (type) {
  case DType::F32: sumsOf<float>(operands, out, n); return true;
  case DType::F64: sumsOf<double>(operands, out, n); return true;
  case DType::BF16: halfSumsOf<Brain>(operands, out, n); return true;
  case DType::F16: halfSumsOf<Half>(operands, out, n); return true;
  case DType::C64: sumsOf<float>(operands, out, 2 * n); return true;
  case DType::C128: sumsOf<double>(operands, out, 2 * n); return true;
  default: return false;
  }
}

bool reduceElements(Reduction reduction, DType type, const void *lhs, const void *rhs, void *out, int64_t n) {
  if (reduction == Reduction::None)
    return false;
  bool bitwise = reduction == Reduction::And || reduction == Reduction::Or || reduction == Reduction::Xor;
  if (bitwise && !isInteger(type))
    return false;
  switch (type) {
  case DType::I1:
    // On booleans, a sum is an or, and a product an and.
    loop<uint8_t>(lhs, rhs, out, n, [=](uint8_t a, uint8_t b) -> uint8_t {
      switch (reduction) {
      case Reduction::Sum: case Reduction::Max: case Reduction::Or: return a | b;
      case Reduction::Xor: return a ^ b;
      default: return a & b;
      }
    });
    return true;
  case DType::I2: narrowIntegers<int8_t>(reduction, 2, lhs, rhs, out, n); return true;
  case DType::I4: narrowIntegers<int8_t>(reduction, 4, lhs, rhs, out, n); return true;
  case DType::U2: narrowIntegers<uint8_t>(reduction, 2, lhs, rhs, out, n); return true;
  case DType::U4: narrowIntegers<uint8_t>(reduction, 4, lhs, rhs, out, n); return true;
  case DType::I8: integers<int8_t, uint8_t>(reduction, lhs, rhs, out, n); return true;
  case DType::I16: integers<int16_t, uint16_t>(reduction, lhs, rhs, out, n); return true;
  case DType::I32: integers<int32_t, uint32_t>(reduction, lhs, rhs, out, n); return true;
  case DType::I64: integers<int64_t, uint64_t>(reduction, lhs, rhs, out, n); return true;
  case DType::U8: integers<uint8_t, uint8_t>(reduction, lhs, rhs, out, n); return true;
  case DType::U16: integers<uint16_t, uint16_t>(reduction, lhs, rhs, out, n); return true;
  case DType::U32: integers<uint32_t, uint32_t>(reduction, lhs, rhs, out, n); return true;
  case DType::U64: integers<uint64_t, uint64_t>(reduction, lhs, rhs, out, n); return true;
  case DType::F32: floats<float>(reduction, lhs, rhs, out, n); return true;
  case DType::F64: floats<double>(reduction, lhs, rhs, out, n); return true;
  case DType::BF16: case DType::F16:
    (hasWide() ? wideSixteenBits : sixteenBits)(reduction, type, lhs, rhs, out, n);
    return true;
  case DType::C64: return complexes<float>(reduction, lhs, rhs, out, n);
  case DType::C128: return complexes<double>(reduction, lhs, rhs, out, n);
  case DType::Token: case DType::Invalid: return false;
  default: smallFloats<uint8_t>(reduction, type, lhs, rhs, out, n); return true;
  }
}

} // namespace millrace::runtime

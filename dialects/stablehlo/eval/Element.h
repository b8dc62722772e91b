// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Element.h - Element kinds of evaluated tensors: load, store, round -===//
// One enumerator per element type of StableHLO, and for each the way its values are stored:
//   * every type of less than a byte (i1, i2, i4, f6, f4) takes one byte per element; signed ones are sign-extended;
//   * complex values are interleaved (re, im); everything is little endian; quantized values are stored as their
//     storage type.
// Arithmetic runs in three lane types, whatever the element type: int64_t (bit pattern, sign- or zero-extended),
// double and std::complex<double>. Storing rounds once, to nearest even. For every float type narrower than f64 this
// makes + - * / and sqrt correctly rounded (53 >= 2 * 24 + 2).
#pragma once

#include "mlir/IR/Types.h"

#include <complex>
#include <cstdint>
#include <optional>

namespace millrace::eval {

enum class Kind : uint8_t {
  I1, I2, I4, I8, I16, I32, I64, U2, U4, U8, U16, U32, U64,
  F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
  F16, BF16, F32, F64, C64, C128,
};

using Complex = std::complex<double>;

/// Returns the kind of `elementType`; a quantized type has the kind of its storage type. Empty for types that no StableHLO tensor may have.
std::optional<Kind> kindOf(mlir::Type elementType);

/// Returns the bytes of one element in a Tensor.
unsigned byteSize(Kind kind);
/// Returns the bits of the type's representation: 1 for i1, 4 for f4E2M1FN, 64 for complex<f32>.
unsigned bitWidth(Kind kind);

inline bool isInteger(Kind k) { return k <= Kind::U64; }
inline bool isUnsigned(Kind k) { return k == Kind::I1 || (k >= Kind::U2 && k <= Kind::U64); }
inline bool isFloat(Kind k) { return k >= Kind::F4E2M1FN && k <= Kind::F64; }
inline bool isComplex(Kind k) { return k >= Kind::C64; }
/// Returns F32 for C64 and F64 for C128.
inline Kind partOf(Kind k) { return k == Kind::C64 ? Kind::F32 : Kind::F64; }

/// The parameters of a float format that C++ does not have, for reading and rounding.
struct FloatFormat {
  unsigned bits, mantissa;
  int minExponent;          ///< exponent of the smallest normal value (and of the subnormals)
  uint32_t maxFinite;       ///< magnitude bits of the largest finite value
  int32_t infinity;         ///< magnitude bits, or -1 if the format has none
  int32_t nan;              ///< bits of the quiet NaN, or -1 if the format has none
  bool negativeZero;        ///< false for the FNUZ formats, whose only NaN has the bits of -0
};
/// Returns null for F32, F64, F8E8M0FNU and types that are not floats.
const FloatFormat *formatOf(Kind kind);

/// Returns the value of the float stored at `p`.
double loadFloat(Kind kind, const char *p);
/// Rounds `value` to nearest even and stores it. An overflow gives infinity, else NaN, else (formats without both) the largest finite value; NaN
/// becomes -0 in formats without NaN.
void storeFloat(Kind kind, char *p, double value);
/// Does the same for a value of 64 significant bits, which is rounded only once.
void storeLongFloat(Kind kind, char *p, long double value);

/// Returns the integer stored at `p`, sign-extended or (unsigned types and i1) zero-extended.
int64_t loadInt(Kind kind, const char *p);
/// Stores the low bits of `value`: wraps around.
void storeInt(Kind kind, char *p, int64_t value);

Complex loadComplex(Kind kind, const char *p);
void storeComplex(Kind kind, char *p, Complex value);

/// Returns `value` rounded to the type, as a store followed by a load would.
inline double roundFloat(Kind kind, double value) {
  if (kind == Kind::F64) return value;
  if (kind == Kind::F32) return static_cast<float>(value);
  char bytes[8];
  storeFloat(kind, bytes, value);
  return loadFloat(kind, bytes);
}
int64_t wrapInt(Kind kind, int64_t value);

/// Truncates toward zero and saturates to the range of `kind`; NaN gives 0.
int64_t floatToInt(Kind kind, double value);
/// Return the smallest and largest value of an integer kind, as lanes.
int64_t minInt(Kind kind);
int64_t maxInt(Kind kind);

/// Returns `value` if it is exact as a double, else the double next below or above it that is odd. Rounding the result to a narrower format gives the
/// same as rounding `value` directly.
double roundToOdd(long double value);

} // namespace millrace::eval

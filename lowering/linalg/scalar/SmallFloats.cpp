// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallFloats.cpp - Convert between f8, f6, f4 bits and f32 ----------===//
// Input:   an i8 bit pattern (decode), an f32 (encode), scalars or vectors
// Output:  branch-free integer arithmetic, so that it vectorizes
// Choices where the formats leave one: NaN becomes -0, and infinity the largest value, in types without NaN (f6, f4).
// f8E8M0FNU has neither sign nor zero: zeros become 2^-127, negative values NaN.
// Source: OCP Microscaling Formats (MX) 1.0; Micikevicius et al., "FP8 formats for deep learning", 2022.
#include "lowering/linalg/scalar/SmallFloats.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace millrace::lowering {
namespace {

/// The parameters of a small float format; codes are bit patterns without the sign.
struct Format {
  explicit Format(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    width = type.getWidth();
    mantissa = llvm::APFloat::semanticsPrecision(semantics) - 1;
    minExponent = llvm::APFloat::semanticsMinExponent(semantics);
    signless = !llvm::APFloat::semanticsHasSignedRepr(semantics);
    hasNan = llvm::APFloat::semanticsHasNaN(semantics);
    hasInf = llvm::APFloat::semanticsHasInf(semantics);
    largest = code(llvm::APFloat::getLargest(semantics));
    if (hasInf)
      inf = code(llvm::APFloat::getInf(semantics));
    if (hasNan)
      nan = code(llvm::APFloat::getQNaN(semantics));
    nanIsNegativeZero = hasNan && !signless && nan == 1u << (width - 1);
  }
  static uint64_t code(const llvm::APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

  unsigned width, mantissa;
  int minExponent;
  bool signless, hasNan, hasInf, nanIsNegativeZero;
  uint64_t largest = 0, inf = 0, nan = 0;
};

/// Fact: bits of f32 without the sign.
constexpr int64_t kMagnitude = 0x7fffffff;
/// Fact: bits of f32's infinity.
constexpr int64_t kInfinity = 0x7f800000;

/// Returns (bits + half of the last kept place, ties to even) >> dropped.
Value roundShift(ScalarBuilder &b, Value bits, unsigned dropped) {
  Value odd = b.andi(b.shrui(bits, dropped), 1);
  return b.shrui(b.addi(b.addi(bits, odd), (int64_t(1) << (dropped - 1)) - 1), dropped);
}

Value encodePowerOfTwo(ScalarBuilder &b, Value value) {
  Value bits = b.bits(value);
  // Ties round up, because a power of two has an odd significand. From 1.5 * 2^-127 on a subnormal rounds to 2^-126.
  Value code = b.shrui(b.addi(bits, 1 << 22), 23);
  Value isSubnormal = b.cmpi(CmpIPredicate::ult, bits, 0x00800000);
  Value subnormal = b.extui(b.cmpi(CmpIPredicate::uge, bits, 0x00600000), bits.getType());
  code = b.select(isSubnormal, subnormal, code);
  Value isZero = b.cmpf(CmpFPredicate::OEQ, value, 0.0);
  code = b.select(isZero, b.i(0, bits.getType()), code);
  Value isNegative = b.cmpi(CmpIPredicate::slt, bits, 0);
  Value isNan = b.select(isZero, b.i(0, isNegative.getType()),
                         b.ori(isNegative, b.cmpi(CmpIPredicate::uge, code, 255)));
  code = b.select(isNan, b.i(255, bits.getType()), code);
  return b.trunci(code, b.intLike(value.getType(), 8));
}

} // namespace

Value decodeSmallFloat(ScalarBuilder &b, Value bits, FloatType type) {
  Format format(type);
  Type i32 = b.intLike(bits.getType(), 32), f32 = b.f32Like(bits.getType());
  Value wide = b.extui(bits, i32);
  if (format.signless) {
    Value value = b.shli(wide, 23);
    value = b.select(b.cmpi(CmpIPredicate::eq, wide, 0), b.i(0x00400000, i32), value);
    value = b.select(b.cmpi(CmpIPredicate::eq, wide, 255), b.i(0x7fc00000, i32), value);
    return b.bitcast(value, f32);
  }
  unsigned magnitudeBits = format.width - 1;
  Value magnitude = b.andi(wide, (1 << magnitudeBits) - 1);
  Value sign = b.shli(b.andi(wide, 1 << magnitudeBits), 31 - magnitudeBits);
  // The code is read as an f32, so that subnormals stay subnormal; the multiplication corrects the bias and is exact.
  Value value = b.bitcast(b.shli(magnitude, 23 - format.mantissa), f32);
  int bias = 1 - format.minExponent;
  value = b.bits(b.mulf(value, b.f(std::ldexp(1.0, 127 - bias), f32)));
  if (format.hasInf)
    value = b.select(b.cmpi(CmpIPredicate::uge, magnitude, format.inf),
                     b.select(b.cmpi(CmpIPredicate::eq, magnitude, format.inf), b.i(kInfinity, i32),
                              b.i(0x7fc00000, i32)),
                     value);
  else if (format.hasNan)
    value = format.nanIsNegativeZero
                ? b.select(b.cmpi(CmpIPredicate::eq, wide, format.nan), b.i(0x7fc00000, i32), value)
                : b.select(b.cmpi(CmpIPredicate::ugt, magnitude, format.largest), b.i(0x7fc00000, i32), value);
  if (format.nanIsNegativeZero)
    sign = b.select(b.cmpi(CmpIPredicate::eq, wide, format.nan), b.i(0, i32), sign);
  return b.bitcast(b.ori(value, sign), f32);
}

Value encodeSmallFloat(ScalarBuilder &b, Value value, FloatType type) {
  Format format(type);
  if (format.signless)
    return encodePowerOfTwo(b, value);
  Value bits = b.bits(value);
  Type i32 = bits.getType();
  Value magnitude = b.andi(bits, kMagnitude);
  Value signCode = b.shli(b.shrui(bits, 31), format.width - 1);

  Value normal = roundShift(b, magnitude, 23 - format.mantissa);
  normal = b.subi(normal, int64_t(127 - (1 - format.minExponent)) << format.mantissa);
  // The addition of 2^k whose last place is the smallest subnormal rounds to a multiple of that.
  int unit = format.minExponent - int(format.mantissa);
  Value magic = b.f(std::ldexp(1.0, unit + 23), value.getType());
  Value subnormal = b.subi(b.bits(b.addf(b.bitcast(magnitude, value.getType()), magic)), b.bits(magic));
  Value isSubnormal = b.cmpi(CmpIPredicate::ult, magnitude, int64_t(format.minExponent + 127) << 23);
  Value code = b.select(isSubnormal, subnormal, normal);

  uint64_t overflow = format.hasInf ? format.inf : format.hasNan ? format.nan : format.largest;
  code = b.select(b.cmpi(CmpIPredicate::sgt, code, format.largest), b.i(overflow, i32), code);
  Value isNan = b.cmpi(CmpIPredicate::ugt, magnitude, kInfinity);
  if (format.hasNan) {
    code = b.select(isNan, b.i(format.nan, i32), code);
    if (format.nanIsNegativeZero) {
      // The type has no negative zero, and its NaN has no sign.
      Value keepsSign = b.cmpi(CmpIPredicate::ne, b.andi(code, format.nan - 1), 0);
      signCode = b.select(keepsSign, signCode, b.i(0, i32));
    }
    code = b.ori(code, signCode);
  } else {
    code = b.select(isNan, b.i(int64_t(1) << (format.width - 1), i32), b.ori(code, signCode));
  }
  return b.trunci(code, b.intLike(value.getType(), 8));
}

Value truncToOddF32(ScalarBuilder &b, Value value) {
  Type f32 = b.f32Like(value.getType());
  Value nearest = b.truncf(value, f32);
  Value back = b.extf(nearest, value.getType());
  Value bits = b.bits(nearest);
  Value roundedUp = b.cmpf(CmpFPredicate::OGT, b.absf(back), b.absf(value));
  Value towardZero = b.subi(bits, b.extui(roundedUp, bits.getType()));
  Value inexact = b.cmpf(CmpFPredicate::ONE, back, value);
  Value odd = b.select(inexact, b.ori(towardZero, 1), bits);
  return b.bitcast(odd, f32);
}

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Element.cpp - Element kinds of evaluated tensors -------------------===//
#include "dialects/stablehlo/eval/Element.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

namespace millrace::eval {

std::optional<Kind> kindOf(Type type) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(type)) type = quantized.getStorageType();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1: return isUnsigned ? std::optional<Kind>() : Kind::I1;
    case 2: return isUnsigned ? Kind::U2 : Kind::I2;
    case 4: return isUnsigned ? Kind::U4 : Kind::I4;
    case 8: return isUnsigned ? Kind::U8 : Kind::I8;
    case 16: return isUnsigned ? Kind::U16 : Kind::I16;
    case 32: return isUnsigned ? Kind::U32 : Kind::I32;
    case 64: return isUnsigned ? Kind::U64 : Kind::I64;
    default: return std::nullopt;
    }
  }
  if (isa<IndexType>(type)) return Kind::I64;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32()) return Kind::C64;
    if (complex.getElementType().isF64()) return Kind::C128;
    return std::nullopt;
  }
  return llvm::TypeSwitch<Type, std::optional<Kind>>(type)
      .Case<Float4E2M1FNType>([](auto) { return Kind::F4E2M1FN; })
      .Case<Float6E2M3FNType>([](auto) { return Kind::F6E2M3FN; })
      .Case<Float6E3M2FNType>([](auto) { return Kind::F6E3M2FN; })
      .Case<Float8E3M4Type>([](auto) { return Kind::F8E3M4; })
      .Case<Float8E4M3Type>([](auto) { return Kind::F8E4M3; })
      .Case<Float8E4M3FNType>([](auto) { return Kind::F8E4M3FN; })
      .Case<Float8E4M3FNUZType>([](auto) { return Kind::F8E4M3FNUZ; })
      .Case<Float8E4M3B11FNUZType>([](auto) { return Kind::F8E4M3B11FNUZ; })
      .Case<Float8E5M2Type>([](auto) { return Kind::F8E5M2; })
      .Case<Float8E5M2FNUZType>([](auto) { return Kind::F8E5M2FNUZ; })
      .Case<Float8E8M0FNUType>([](auto) { return Kind::F8E8M0FNU; })
      .Case<Float16Type>([](auto) { return Kind::F16; })
      .Case<BFloat16Type>([](auto) { return Kind::BF16; })
      .Case<Float32Type>([](auto) { return Kind::F32; })
      .Case<Float64Type>([](auto) { return Kind::F64; })
      .Default([](Type) { return std::nullopt; });
}

unsigned bitWidth(Kind kind) {
  switch (kind) {
  case Kind::I1: return 1;
  case Kind::I2: case Kind::U2: return 2;
  case Kind::I4: case Kind::U4: case Kind::F4E2M1FN: return 4;
  case Kind::F6E2M3FN: case Kind::F6E3M2FN: return 6;
  case Kind::I16: case Kind::U16: case Kind::F16: case Kind::BF16: return 16;
  case Kind::I32: case Kind::U32: case Kind::F32: return 32;
  case Kind::I64: case Kind::U64: case Kind::F64: case Kind::C64: return 64;
  case Kind::C128: return 128;
  default: return 8;
  }
}

unsigned byteSize(Kind kind) { return (bitWidth(kind) + 7) / 8; }

const FloatFormat *formatOf(Kind kind) {
  // Sources: OCP OFP8 and MX specifications, IEEE 754; biases of the FNUZ and B11 formats from their proposals.
  static constexpr FloatFormat f4E2M1FN = {4, 1, 0, 0x7, -1, -1, true};
  static constexpr FloatFormat f6E2M3FN = {6, 3, 0, 0x1f, -1, -1, true};
  static constexpr FloatFormat f6E3M2FN = {6, 2, -2, 0x1f, -1, -1, true};
  static constexpr FloatFormat f8E3M4 = {8, 4, -2, 0x6f, 0x70, 0x78, true};
  static constexpr FloatFormat f8E4M3 = {8, 3, -6, 0x77, 0x78, 0x7c, true};
  static constexpr FloatFormat f8E4M3FN = {8, 3, -6, 0x7e, -1, 0x7f, true};
  static constexpr FloatFormat f8E4M3FNUZ = {8, 3, -7, 0x7f, -1, 0x80, false};
  static constexpr FloatFormat f8E4M3B11FNUZ = {8, 3, -10, 0x7f, -1, 0x80, false};
  static constexpr FloatFormat f8E5M2 = {8, 2, -14, 0x7b, 0x7c, 0x7e, true};
  static constexpr FloatFormat f8E5M2FNUZ = {8, 2, -15, 0x7f, -1, 0x80, false};
  static constexpr FloatFormat f16 = {16, 10, -14, 0x7bff, 0x7c00, 0x7e00, true};
  static constexpr FloatFormat bf16 = {16, 7, -126, 0x7f7f, 0x7f80, 0x7fc0, true};
  switch (kind) {
  case Kind::F4E2M1FN: return &f4E2M1FN;
  case Kind::F6E2M3FN: return &f6E2M3FN;
  case Kind::F6E3M2FN: return &f6E3M2FN;
  case Kind::F8E3M4: return &f8E3M4;
  case Kind::F8E4M3: return &f8E4M3;
  case Kind::F8E4M3FN: return &f8E4M3FN;
  case Kind::F8E4M3FNUZ: return &f8E4M3FNUZ;
  case Kind::F8E4M3B11FNUZ: return &f8E4M3B11FNUZ;
  case Kind::F8E5M2: return &f8E5M2;
  case Kind::F8E5M2FNUZ: return &f8E5M2FNUZ;
  case Kind::F16: return &f16;
  case Kind::BF16: return &bf16;
  default: return nullptr;
  }
}

template <typename T>
static T read(const char *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T>
static void write(char *p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

static double decode(const FloatFormat &format, uint32_t bits) {
  uint32_t signBit = 1u << (format.bits - 1), magnitude = bits & (signBit - 1);
  bool negative = bits & signBit;
  double value;
  if (!format.negativeZero && bits == signBit) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude <= format.maxFinite) {
    uint32_t exponent = magnitude >> format.mantissa, fraction = magnitude & ((1u << format.mantissa) - 1);
    if (exponent) fraction |= 1u << format.mantissa, --exponent;
    value = std::ldexp(static_cast<double>(fraction),
                       static_cast<int>(exponent) + format.minExponent - static_cast<int>(format.mantissa));
  } else if (static_cast<int32_t>(magnitude) == format.infinity) {
    value = std::numeric_limits<double>::infinity();
  } else {
    value = std::numeric_limits<double>::quiet_NaN();
  }
  return negative ? std::copysign(value, -1.0) : value;
}

static uint32_t encode(const FloatFormat &format, double value) {
  uint32_t signBit = 1u << (format.bits - 1), sign = std::signbit(value) ? signBit : 0;
  if (std::isnan(value)) {
    if (format.nan < 0) return signBit;
    return format.negativeZero ? (sign | static_cast<uint32_t>(format.nan)) : static_cast<uint32_t>(format.nan);
  }
  auto overflow = [&]() -> uint32_t {
    if (format.infinity >= 0) return sign | static_cast<uint32_t>(format.infinity);
    if (format.nan < 0) return sign | format.maxFinite;
    return format.negativeZero ? (sign | static_cast<uint32_t>(format.nan)) : static_cast<uint32_t>(format.nan);
  };
  if (std::isinf(value)) return overflow();
  double magnitude = std::fabs(value);
  uint32_t bits = 0;
  if (magnitude != 0) {
    int exponent = std::max(std::ilogb(magnitude), format.minExponent);
    // The exponent is far beyond the range; this also keeps the shift below in bounds.
    if (exponent > format.minExponent + 512) return overflow();
    // The significand as an integer with its hidden bit; the addition below carries the hidden bit and a rounding up into the exponent field.
    double significand = std::nearbyint(std::ldexp(magnitude, static_cast<int>(format.mantissa) - exponent));
    bits = (static_cast<uint32_t>(exponent - format.minExponent) << format.mantissa) +
           static_cast<uint32_t>(significand);
    if (bits > format.maxFinite) return overflow();
  }
  if (bits == 0 && !format.negativeZero) return 0;
  return sign | bits;
}

double loadFloat(Kind kind, const char *p) {
  switch (kind) {
  case Kind::F32: return read<float>(p);
  case Kind::F64: return read<double>(p);
  case Kind::BF16: return llvm::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(p)) << 16);
  case Kind::F16: return decode(*formatOf(kind), read<uint16_t>(p));
  case Kind::F8E8M0FNU: {
    uint8_t bits = read<uint8_t>(p);
    return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
  default: {
    const FloatFormat *format = formatOf(kind);
    return decode(*format, read<uint8_t>(p) & ((1u << format->bits) - 1));
  }
  }
}

void storeFloat(Kind kind, char *p, double value) {
  switch (kind) {
  case Kind::F32: return write(p, static_cast<float>(value));
  case Kind::F64: return write(p, value);
  case Kind::F8E8M0FNU: {
    // The format has only powers of two, without sign and zero. The only significand is odd, so that ties round up. Zero and values below the range
    // give the smallest value, and values without counterpart (negative, infinite) give NaN, as in llvm::APFloat.
    if (std::isnan(value) || std::isinf(value) || value < 0) return write<uint8_t>(p, 0xff);
    if (value < std::ldexp(1.0, -127)) return write<uint8_t>(p, 0);
    int exponent = std::ilogb(value);
    double fraction = std::ldexp(value, -exponent);
    int field = exponent + 127;
    if (fraction >= 1.5) ++field;
    return write<uint8_t>(p, field >= 0xff ? 0xff : static_cast<uint8_t>(field));
  }
  case Kind::F16:
  case Kind::BF16: return write(p, static_cast<uint16_t>(encode(*formatOf(kind), value)));
  default: return write(p, static_cast<uint8_t>(encode(*formatOf(kind), value)));
  }
}

double roundToOdd(long double value) {
  double nearest = static_cast<double>(value);
  if (static_cast<long double>(nearest) == value || std::isnan(nearest)) return nearest;
  if (std::isinf(nearest)) return nearest;
  if (llvm::bit_cast<uint64_t>(nearest) & 1) return nearest;
  bool up = static_cast<long double>(nearest) < value;
  return std::nextafter(nearest, up ? std::numeric_limits<double>::infinity()
                                    : -std::numeric_limits<double>::infinity());
}

void storeLongFloat(Kind kind, char *p, long double value) {
  if (kind == Kind::F64) return write(p, static_cast<double>(value));
  storeFloat(kind, p, roundToOdd(value));
}

int64_t loadInt(Kind kind, const char *p) {
  switch (kind) {
  case Kind::I1: return read<uint8_t>(p) & 1;
  case Kind::I2: return static_cast<int64_t>(static_cast<uint64_t>(read<uint8_t>(p)) << 62) >> 62;
  case Kind::I4: return static_cast<int64_t>(static_cast<uint64_t>(read<uint8_t>(p)) << 60) >> 60;
  case Kind::I8: return read<int8_t>(p);
  case Kind::I16: return read<int16_t>(p);
  case Kind::I32: return read<int32_t>(p);
  case Kind::U2: return read<uint8_t>(p) & 3;
  case Kind::U4: return read<uint8_t>(p) & 15;
  case Kind::U8: return read<uint8_t>(p);
  case Kind::U16: return read<uint16_t>(p);
  case Kind::U32: return read<uint32_t>(p);
  default: return read<int64_t>(p);
  }
}

int64_t wrapInt(Kind kind, int64_t value) {
  unsigned unused = 64 - bitWidth(kind);
  uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return isUnsigned(kind) ? static_cast<int64_t>(shifted >> unused) : static_cast<int64_t>(shifted) >> unused;
}

void storeInt(Kind kind, char *p, int64_t value) {
  value = wrapInt(kind, value);
  switch (byteSize(kind)) {
  case 1: return write(p, static_cast<int8_t>(value));
  case 2: return write(p, static_cast<int16_t>(value));
  case 4: return write(p, static_cast<int32_t>(value));
  default: return write(p, value);
  }
}

Complex loadComplex(Kind kind, const char *p) {
  if (kind == Kind::C64) return {read<float>(p), read<float>(p + 4)};
  return {read<double>(p), read<double>(p + 8)};
}

void storeComplex(Kind kind, char *p, Complex value) {
  if (kind == Kind::C64) {
    write(p, static_cast<float>(value.real()));
    return write(p + 4, static_cast<float>(value.imag()));
  }
  write(p, value.real());
  write(p + 8, value.imag());
}

int64_t minInt(Kind kind) {
  return isUnsigned(kind) ? 0 : static_cast<int64_t>(~uint64_t(0) << (bitWidth(kind) - 1));
}

int64_t maxInt(Kind kind) {
  return static_cast<int64_t>(~uint64_t(0) >> (64 - bitWidth(kind) + (isUnsigned(kind) ? 0 : 1)));
}

int64_t floatToInt(Kind kind, double value) {
  if (std::isnan(value)) return 0;
  double truncated = std::trunc(value);
  // 2^64 and 2^63 are exact in double; the largest integers below them are not.
  if (kind == Kind::U64) {
    if (truncated <= 0) return 0;
    if (truncated >= 18446744073709551616.0) return -1;
    return static_cast<int64_t>(static_cast<uint64_t>(truncated));
  }
  if (truncated >= 9223372036854775808.0) return maxInt(kind);
  if (truncated < -9223372036854775808.0) return minInt(kind);
  return std::min(std::max(static_cast<int64_t>(truncated), minInt(kind)), maxInt(kind));
}

} // namespace millrace::eval

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderKey.h - Sort keys: unsigned integers in the order of elements ---===//
#pragma once
#include "runtime/base/DType.h"

#include <cstdint>

namespace millrace::runtime {

/// The order of the elements of one type. In `total` order floats are -NaN < -inf < ... < -0 < 0 < ... < inf < NaN. Otherwise zeros are equal, and
/// all NaN are equal and come last.
struct ElementOrder {
  enum class Kind : uint8_t { Unsigned, Signed, Float };
  Kind kind = Kind::Unsigned;
  bool descending = false, total = false;
  uint64_t infinity = 0; ///< bits of the infinity of a float

  /// Returns false if elements of `type` cannot be ordered by their bits.
  static bool of(DType type, bool descending, bool total, ElementOrder &order) {
    order = {Kind::Unsigned, descending, total, 0};
    switch (type) {
    case DType::F16: order.infinity = 0x7c00; break;
    case DType::BF16: order.infinity = 0x7f80; break;
    case DType::F32: order.infinity = 0x7f80'0000; break;
    case DType::F64: order.infinity = 0x7ff0'0000'0000'0000; break;
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64: order.kind = Kind::Signed; return true;
    case DType::I1:
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64: return true;
    default: return false;
    }
    order.kind = Kind::Float;
    return true;
  }

  /// Calls `visit(key)` with a function object that converts the bits of an element to its key; smaller keys come first.
  template <typename Bits, typename Visitor>
  auto withKey(Visitor visit) const {
    constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    Bits flip = descending ? Bits(~Bits(0)) : Bits(0), limit = Bits(infinity);
    switch (kind) {
    case Kind::Unsigned: return visit([flip](Bits bits) { return Bits(bits ^ flip); });
    case Kind::Signed: return visit([flip](Bits bits) { return Bits(bits ^ sign ^ flip); });
    case Kind::Float: break;
    }
    // The code has no branches, because the signs of real data cannot be predicted.
    constexpr int signAt = 8 * sizeof(Bits) - 1;
    auto ordered = [flip](Bits bits) { return Bits(bits ^ (Bits(0 - Bits(bits >> signAt)) | sign) ^ flip); };
    if (total)
      return visit(ordered);
    return visit([ordered, limit](Bits bits) {
      Bits magnitude = Bits(bits & Bits(~sign));
      bits = magnitude == 0 ? Bits(0) : magnitude > limit ? Bits(limit + 1) : bits;
      return ordered(bits);
    });
  }

  /// Returns the element of a key, for orders in which different elements have different keys. An element that shares its key with another one (a
  /// negative zero, a NaN with other bits) is returned as that other one.
  template <typename Bits>
  Bits element(Bits key) const {
    constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    key = Bits(key ^ (descending ? Bits(~Bits(0)) : Bits(0)));
    if (kind == Kind::Unsigned)
      return key;
    if (kind == Kind::Signed)
      return Bits(key ^ sign);
    return Bits(key ^ (Bits(Bits(key >> (8 * sizeof(Bits) - 1)) - 1) | sign));
  }

  /// Returns true if two different elements may have the same key.
  bool hasEqualElements() const { return kind == Kind::Float && !total; }
};

} // namespace millrace::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Proto.h - Write and read messages of protocol buffers ---------------===//
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace millrace::runtime::proto {

enum Wire : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

inline void putVarint(std::string &out, uint64_t value) {
  while (value >= 0x80) {
    out += char(value | 0x80);
    value >>= 7;
  }
  out += char(value);
}
inline void putTag(std::string &out, uint32_t field, Wire wire) { putVarint(out, field << 3 | wire); }
/// Appends a number. Omits 0, which readers assume for a missing field.
inline void putNumber(std::string &out, uint32_t field, uint64_t value) {
  if (!value)
    return;
  putTag(out, field, Varint);
  putVarint(out, value);
}
/// Appends a number, also 0, for readers that distinguish missing fields, such as converters to JSON.
inline void putKnownNumber(std::string &out, uint32_t field, uint64_t value) {
  putTag(out, field, Varint);
  putVarint(out, value);
}
inline void putBytes(std::string &out, uint32_t field, std::string_view bytes) {
  putTag(out, field, Bytes);
  putVarint(out, bytes.size());
  out += bytes;
}
inline void putText(std::string &out, uint32_t field, std::string_view text) {
  if (!text.empty())
    putBytes(out, field, text);
}

inline void putFixed32(std::string &out, uint32_t field, uint32_t bits) {
  putTag(out, field, Fixed32);
  out.append(reinterpret_cast<const char *>(&bits), sizeof bits);
}
inline void putReal(std::string &out, uint32_t field, double value) {
  if (value == 0 && !std::signbit(value))
    return;
  putTag(out, field, Fixed64);
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}
/// Appends a repeated field of integers, zeros included; nothing for an empty list.
template <typename Range>
void putPacked(std::string &out, uint32_t field, const Range &values) {
  std::string packed;
  for (auto value : values)
    putVarint(packed, uint64_t(int64_t(value)));
  putText(out, field, packed);
}

/// Iterates over the fields of one message.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}
  uint32_t field = 0;
  uint64_t number = 0;    ///< value of a varint or fixed-size number
  std::string_view bytes; ///< content of any other field
  bool isBroken = false;

  /// Advances to the next field. Returns false at the end, and if the bytes are no message.
  bool next() {
    uint64_t tag;
    if (rest.empty() || isBroken || !varint(tag))
      return false;
    field = uint32_t(tag >> 3);
    bytes = {};
    number = 0;
    switch (tag & 7) {
    case Varint: return varint(number);
    case Fixed64: return fixed(8);
    case Fixed32: return fixed(4);
    case Bytes: {
      uint64_t size;
      if (!varint(size) || size > rest.size())
        return fail();
      bytes = rest.substr(0, size);
      rest.remove_prefix(size);
      return true;
    }
    default: return fail();
    }
  }
  /// Advances to the next integer of a packed field, whose integers have no tags.
  bool nextPacked() { return !rest.empty() && !isBroken && varint(number); }
  double real() const { return std::bit_cast<double>(number); }

private:
  bool fail() {
    isBroken = true;
    return false;
  }
  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      const uint8_t byte = uint8_t(rest.front());
      rest.remove_prefix(1);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return true;
    }
    return fail();
  }
  bool fixed(size_t size) {
    if (rest.size() < size)
      return fail();
    number = 0;
    std::memcpy(&number, rest.data(), size);
    rest.remove_prefix(size);
    return true;
  }
  std::string_view rest;
};

} // namespace millrace::runtime::proto

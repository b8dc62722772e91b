// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Assemble.h - Bytecode files by hand, right or wrong ----------------===//
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {

using Bytes = std::string;

inline Bytes num(uint64_t value) {
  for (unsigned following = 0; following < 8; ++following)
    if (value < uint64_t(1) << (7 * (following + 1))) {
      uint64_t encoded = (value << 1 | 1) << following;
      return Bytes(reinterpret_cast<const char *>(&encoded), following + 1);
    }
  return Bytes(1, '\0') + Bytes(reinterpret_cast<const char *>(&value), 8);
}
inline Bytes sig(int64_t value) { return num(uint64_t(value) << 1 ^ uint64_t(value >> 63)); }
inline Bytes byte(uint8_t value) { return Bytes(1, static_cast<char>(value)); }

template <typename... Parts>
Bytes cat(const Parts &...parts) { return (Bytes() + ... + parts); }

/// A list of numbers with its length.
inline Bytes list(const std::vector<uint64_t> &values) {
  Bytes result = num(values.size());
  for (uint64_t value : values)
    result += num(value);
  return result;
}
inline Bytes shape(const std::vector<int64_t> &sizes) {
  Bytes result = num(sizes.size());
  for (int64_t size : sizes)
    result += sig(size);
  return result;
}
inline Bytes blob(const Bytes &content) { return num(content.size()) + content; }
inline Bytes section(uint8_t id, const Bytes &content) { return byte(id) + num(content.size()) + content; }

/// The parts of a file of version 6. Attribute 0 is the unknown location; strings, dialects and operation names are fixed:
/// strings 0 "builtin", 1 "module", 2 "vhlo", 3 "quant", 4 "", 5 "stablehlo"; dialects builtin, vhlo, quant, stablehlo;
/// operation 0 builtin.module.
struct File {
  struct Entry {
    unsigned dialect; ///< 0 builtin, 1 vhlo, 2 quant, 3 stablehlo
    Bytes content;
    bool custom = true;
  };
  std::vector<Entry> attributes = {{0, num(15)}}, types;
  /// One module without operations.
  Bytes operations = cat(num(2), num(0), byte(16), num(0), num(1 << 1 | 1), section(4, cat(num(1), num(0), num(0))));
  Bytes properties = num(0), resources, resourceOffsets;
  uint64_t version = 6;

  uint64_t attribute(unsigned dialect, const Bytes &content, bool custom = true) {
    attributes.push_back({dialect, content, custom});
    return attributes.size() - 1;
  }
  uint64_t type(unsigned dialect, const Bytes &content, bool custom = true) {
    types.push_back({dialect, content, custom});
    return types.size() - 1;
  }
  uint64_t builtinType(const Bytes &content) { return type(0, content); }
  uint64_t f32() { return builtinType(num(5)); }
  uint64_t integer(uint64_t width, uint64_t sign = 0) { return builtinType(num(0) + num(width << 2 | sign)); }
  uint64_t tensor(const std::vector<int64_t> &sizes, uint64_t element) {
    return builtinType(cat(num(13), shape(sizes), num(element)));
  }
  /// A text entry of a dialect.
  static Bytes text(const Bytes &spelled) { return spelled + byte(0); }

  Bytes bytes() const {
    std::vector<Bytes> strings = {"builtin", "module", "vhlo", "quant", "", "stablehlo"};
    Bytes sizes = num(strings.size()), data;
    for (size_t i = strings.size(); i-- > 0;)
      sizes += num(strings[i].size() + 1);
    for (const Bytes &string : strings)
      data += string + byte(0);
    Bytes dialects = cat(num(4), num(0), num(2 << 1), num(3 << 1), num(5 << 1), num(1), num(0), num(1), num(1 << 1 | 1));
    Bytes offsets = num(attributes.size()) + num(types.size()), entries;
    for (const auto *table : {&attributes, &types})
      for (const Entry &entry : *table) {
        offsets += cat(num(entry.dialect), num(1), num(entry.content.size() << 1 | entry.custom));
        entries += entry.content;
      }
    Bytes file = cat(Bytes("ML\xefR"), num(version), Bytes("test"), byte(0), section(0, sizes + data), section(1, dialects),
                     section(2, entries), section(3, offsets), section(4, operations), section(8, properties));
    if (!resourceOffsets.empty())
      file += cat(section(5, resources), section(6, resourceOffsets));
    return file;
  }
};

} // namespace millrace::test

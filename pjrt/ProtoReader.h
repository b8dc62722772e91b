// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoReader.h - Fields of protocol buffer messages ------------------===//
#pragma once
#include <cstdint>
#include <string_view>

namespace millrace::pjrt {

/// One field of a message: `number` holds varints, `bytes` strings, messages and fixed-size values.
struct Field {
  uint32_t id = 0, wireType = 0;
  uint64_t number = 0;
  std::string_view bytes;
};

class Reader {
public:
  explicit Reader(std::string_view data) : data(data) {}
  bool atEnd() const { return data.empty(); }
  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (data.empty())
        return false;
      uint8_t byte = uint8_t(data.front());
      data.remove_prefix(1);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return true;
    }
    return false;
  }
  bool next(Field &field) {
    uint64_t key;
    if (!varint(key) || key >> 35)
      return false;
    field.id = uint32_t(key >> 3);
    field.wireType = uint32_t(key & 7);
    uint64_t size = 0;
    switch (field.wireType) {
    case 0:
      return varint(field.number);
    case 1:
      size = 8;
      break;
    case 2:
      if (!varint(size))
        return false;
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;
    }
    if (size > data.size())
      return false;
    field.bytes = data.substr(0, size);
    data.remove_prefix(size);
    return true;
  }

private:
  std::string_view data;
};

/// Calls `handle` for each field; returns false if `handle` does or the bytes are malformed.
template <typename Handle>
bool forEachField(std::string_view bytes, Handle handle) {
  Reader reader(bytes);
  while (!reader.atEnd()) {
    Field field;
    if (!reader.next(field) || field.id == 0 || !handle(field))
      return false;
  }
  return true;
}

} // namespace millrace::pjrt

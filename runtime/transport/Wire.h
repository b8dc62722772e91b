// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Wire.h - Encode numbers and texts in messages -----------------------===//
// Numbers are little-endian and unaligned. A Reader never reads beyond its bytes: after the first value that does not fit, all values are zero and
// ok() is false.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace millrace::runtime::transport {

class Writer {
public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(uint32_t(value.size()));
    bytes.append(value);
  }
  template <typename T>
  void list(const std::vector<T> &values) {
    number(uint32_t(values.size()));
    for (T value : values)
      number(value);
  }
  std::string bytes;
};

class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}
  template <typename T>
  T number() {
    T value = {};
    if (take(sizeof value))
      std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string text() {
    uint32_t size = number<uint32_t>();
    return take(size) ? std::string(taken) : std::string();
  }
  template <typename T>
  std::vector<T> list() {
    uint32_t size = number<uint32_t>();
    std::vector<T> values;
    if (!fine || rest.size() / sizeof(T) < size) { // checked before memory is allocated
      fine = false;
      return values;
    }
    values.reserve(size);
    for (uint32_t i = 0; i < size; ++i)
      values.push_back(number<T>());
    return values;
  }
  bool ok() const { return fine; }
  /// Returns true if everything was read and nothing was missing.
  bool isComplete() const { return fine && rest.empty(); }

private:
  bool take(size_t size) {
    if (!fine || rest.size() < size)
      return fine = false;
    taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  std::string_view rest, taken;
  bool fine = true;
};

} // namespace millrace::runtime::transport

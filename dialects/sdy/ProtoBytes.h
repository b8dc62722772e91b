// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoBytes.h - Write messages of protocol buffers -------------------===//
#pragma once
#include <cstdint>
#include <string>

namespace millrace::sdy {

inline void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

/// Appends a field of bytes, or of packed numbers.
inline void appendBytes(std::string &out, int field, const std::string &bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out += bytes;
}

} // namespace millrace::sdy

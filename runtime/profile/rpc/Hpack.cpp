// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hpack.cpp - Headers of HTTP/2 (RFC 7541) -----------------------------===//
#include "runtime/profile/rpc/Hpack.h"

#include <algorithm>
#include <array>

namespace millrace::runtime::profile::rpc {
namespace {

/// Appendix A.
constexpr std::pair<const char *, const char *> kStatic[] = {
    {":authority", ""}, {":method", "GET"}, {":method", "POST"}, {":path", "/"}, {":path", "/index.html"}, {":scheme", "http"}, {":scheme",
    "https"}, {":status", "200"}, {":status", "204"}, {":status", "206"}, {":status", "304"}, {":status", "400"}, {":status", "404"},
    {":status", "500"}, {"accept-charset", ""}, {"accept-encoding", "gzip, deflate"}, {"accept-language", ""}, {"accept-ranges", ""},
    {"accept", ""}, {"access-control-allow-origin", ""}, {"age", ""}, {"allow", ""}, {"authorization", ""}, {"cache-control", ""},
    {"content-disposition", ""}, {"content-encoding", ""}, {"content-language", ""}, {"content-length", ""}, {"content-location", ""},
    {"content-range", ""}, {"content-type", ""}, {"cookie", ""}, {"date", ""}, {"etag", ""}, {"expect", ""}, {"expires", ""}, {"from", ""},
    {"host", ""}, {"if-match", ""}, {"if-modified-since", ""}, {"if-none-match", ""}, {"if-range", ""}, {"if-unmodified-since", ""},
    {"last-modified", ""}, {"link", ""}, {"location", ""}, {"max-forwards", ""}, {"proxy-authenticate", ""}, {"proxy-authorization", ""},
    {"range", ""}, {"referer", ""}, {"refresh", ""}, {"retry-after", ""}, {"server", ""}, {"set-cookie", ""}, {"strict-transport-security",
    ""}, {"transfer-encoding", ""}, {"user-agent", ""}, {"vary", ""}, {"via", ""}, {"www-authenticate", ""}};

/// Fact: appendix B: bits per byte, and of the end at last. Codes follow from them: shorter ones first, those of a length in the order of the bytes.
constexpr uint8_t kBits[257] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10,
    10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22,
    23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23,
    22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
    27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30};

/// Per length the first code and the symbols that have it, in the order of their codes.
struct Code {
  std::array<uint32_t, 31> first{}, count{}, offset{};
  std::array<uint16_t, 257> symbols{};
  Code() {
    uint32_t next = 0, placed = 0;
    for (uint32_t bits = 1; bits <= 30; ++bits) {
      next <<= 1;
      first[bits] = next;
      offset[bits] = placed;
      for (uint16_t symbol = 0; symbol < 257; ++symbol)
        if (kBits[symbol] == bits) {
          symbols[placed++] = symbol;
          ++next;
        }
      count[bits] = placed - offset[bits];
    }
  }
};

/// An integer whose first byte has `bits` bits for it.
bool readInteger(std::string_view &block, unsigned bits, uint64_t &value) {
  if (block.empty())
    return false;
  const uint64_t most = (uint64_t(1) << bits) - 1;
  value = uint8_t(block.front()) & most;
  block.remove_prefix(1);
  if (value < most)
    return true;
  for (unsigned shift = 0; shift <= 28 && !block.empty(); shift += 7) {
    const uint8_t byte = uint8_t(block.front());
    block.remove_prefix(1);
    value += uint64_t(byte & 0x7F) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

bool readText(std::string_view &block, std::string &text) {
  if (block.empty())
    return false;
  const bool isCode = uint8_t(block.front()) & 0x80;
  uint64_t size;
  if (!readInteger(block, 7, size) || size > block.size())
    return false;
  std::string_view bytes = block.substr(0, size);
  block.remove_prefix(size);
  text.clear();
  if (isCode)
    return decodeHuffman(bytes, text);
  text = bytes;
  return true;
}

void putInteger(std::string &block, unsigned bits, uint8_t flags, uint64_t value) {
  const uint64_t most = (uint64_t(1) << bits) - 1;
  if (value < most) {
    block += char(flags | value);
    return;
  }
  block += char(flags | most);
  for (value -= most; value >= 0x80; value >>= 7)
    block += char(value | 0x80);
  block += char(value);
}

} // namespace

bool decodeHuffman(std::string_view bytes, std::string &text) {
  static const Code code;
  uint32_t value = 0, bits = 0;
  for (char each : bytes)
    for (int bit = 7; bit >= 0; --bit) {
      value = value << 1 | (uint32_t(uint8_t(each)) >> bit & 1);
      if (++bits > 30)
        return false;
      if (uint32_t place = value - code.first[bits]; value >= code.first[bits] && place < code.count[bits]) {
        const uint16_t symbol = code.symbols[code.offset[bits] + place];
        if (symbol == 256)
          return false;
        text += char(symbol);
        value = bits = 0;
      }
    }
  return bits < 8 && value == (uint32_t(1) << bits) - 1; // what fills the last byte are ones
}

void encodeHeader(std::string &block, std::string_view name, std::string_view value) {
  block += char(0); // literal, not remembered, with its name
  putInteger(block, 7, 0, name.size());
  block += name;
  putInteger(block, 7, 0, value.size());
  block += value;
}

bool HpackDecoder::at(uint64_t index, std::pair<std::string, std::string> &entry) const {
  if (index == 0)
    return false;
  if (index <= std::size(kStatic)) {
    entry = {kStatic[index - 1].first, kStatic[index - 1].second};
    return true;
  }
  index -= std::size(kStatic) + 1;
  if (index >= table.size())
    return false;
  entry = table[index];
  return true;
}

void HpackDecoder::shrinkTo(size_t most) {
  while (bytes > most) {
    bytes -= table.back().first.size() + table.back().second.size() + 32;
    table.pop_back();
  }
}

void HpackDecoder::add(const std::pair<std::string, std::string> &entry) {
  const size_t size = entry.first.size() + entry.second.size() + 32;
  shrinkTo(size > limit ? 0 : limit - size);
  if (size > limit)
    return;
  table.push_front(entry);
  bytes += size;
}

bool HpackDecoder::decode(std::string_view block, Headers &headers) {
  size_t listBytes = 0;
  auto take = [&](std::pair<std::string, std::string> &&entry) {
    listBytes += entry.first.size() + entry.second.size() + 32;
    headers.push_back(std::move(entry));
    return listBytes <= kMostListBytes;
  };
  while (!block.empty()) {
    const uint8_t first = uint8_t(block.front());
    std::pair<std::string, std::string> entry;
    uint64_t number;
    if (first & 0x80) { // one of the table
      if (!readInteger(block, 7, number) || !at(number, entry) || !take(std::move(entry)))
        return false;
      continue;
    }
    if ((first & 0xE0) == 0x20) { // another size of the table
      if (!readInteger(block, 5, number) || number > kMostBytes)
        return false;
      limit = number;
      shrinkTo(limit);
      continue;
    }
    const bool isRemembered = first & 0x40;
    if (!readInteger(block, isRemembered ? 6 : 4, number))
      return false;
    if (number ? !at(number, entry) : !readText(block, entry.first))
      return false;
    if (!readText(block, entry.second))
      return false;
    if (isRemembered)
      add(entry);
    if (!take(std::move(entry)))
      return false;
  }
  return true;
}

} // namespace millrace::runtime::profile::rpc

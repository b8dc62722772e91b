// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Utf8.cpp - Texts of recordings, whatever bytes they have ------------===//
#include "runtime/profile/Utf8.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace millrace::runtime::profile {

static constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD

size_t characterAt(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0; };
  const auto follows = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  const uint8_t first = at(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return follows(1) && follows(2) && !(first == 0xE0 && at(1) < 0xA0) && !(first == 0xED && at(1) > 0x9F) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return follows(1) && follows(2) && follows(3) && !(first == 0xF0 && at(1) < 0x90) && !(first == 0xF4 && at(1) > 0x8F) ? 4 : 0;
  return 0;
}

std::string validUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = characterAt(text);
    out += size ? text.substr(0, size) : kReplacement;
    text.remove_prefix(std::max<size_t>(1, size));
  }
  return out;
}

/// One character as a terminal may get it.
static std::string shown(std::string_view character) {
  if (character.empty())
    return std::string(kReplacement);
  const uint8_t first = uint8_t(character[0]), second = character.size() > 1 ? uint8_t(character[1]) : 0;
  if (first == '\n')
    return "\\n";
  if (first < 0x20 || first == 0x7F)
    return format("\\x%02x", first);
  if (first == 0xC2 && second < 0xA0) // controls of one byte where terminals have 8 bits
    return format("\\x%02x", second);
  return std::string(character);
}

std::string forTerminal(std::string_view text, size_t most) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const size_t size = characterAt(text);
    characters.push_back(shown(text.substr(0, size)));
    text.remove_prefix(std::max<size_t>(1, size));
  }
  const bool isCut = characters.size() > most;
  const size_t end = characters.size(), head = isCut ? most / 2 : end, tail = isCut ? end - (most - head - 1) : end;
  std::string out;
  for (size_t i = 0; i < head; ++i)
    out += characters[i];
  if (isCut)
    out += "…";
  for (size_t i = tail; i < end; ++i)
    out += characters[i];
  return out;
}

} // namespace millrace::runtime::profile

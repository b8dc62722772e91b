// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResultLocations.cpp - The lines that make a program's results --------===//
#include "runtime/program/ResultLocations.h"

#include <algorithm>
#include <charconv>

namespace millrace::runtime {

/// The key of the entry; its value has a number per result, or "-": "0 3 - 1".
static constexpr std::string_view kKey = "result locations";

void setResultLocations(Program &program, const std::vector<uint32_t> &indices) {
  std::string text;
  for (uint32_t index : indices)
    text += (text.empty() ? "" : " ") + (index == kNone ? std::string("-") : std::to_string(index));
  program.metadata.emplace_back(kKey, std::move(text));
}

std::vector<uint32_t> resultLocations(const Program &program) {
  auto entry = std::find_if(program.metadata.begin(), program.metadata.end(), [](const auto &each) { return each.first == kKey; });
  std::vector<uint32_t> indices;
  if (entry == program.metadata.end())
    return indices;
  for (std::string_view rest = entry->second; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    uint32_t index = kNone;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
    const bool isLocation = error == std::errc() && end == word.data() + word.size() && index < program.locations.size();
    indices.push_back(isLocation ? index : kNone);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return indices;
}

} // namespace millrace::runtime

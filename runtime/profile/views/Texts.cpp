// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Texts.cpp - Numbers and places in sentences -------------------------===//
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace millrace::runtime::profile {

std::string format(const char *pattern, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  int size = std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return std::string(buffer, size_t(std::clamp(size, 0, int(sizeof buffer) - 1)));
}

std::string durationText(double ns) {
  return ns >= 1e9 ? format("%.2f s", ns / 1e9) : ns >= 1e6 ? format("%.1f ms", ns / 1e6) : format("%.0f us", ns / 1e3);
}
std::string bytesText(double bytes) {
  return bytes >= 1e9 ? format("%.2f GB", bytes / 1e9) : bytes >= 1e6 ? format("%.1f MB", bytes / 1e6) : format("%.1f kB", bytes / 1e3);
}

std::string mostFrequent(const std::map<std::string, size_t> &counts) {
  std::string best;
  size_t most = 0;
  for (const auto &[text, count] : counts)
    if (!text.empty() && count > most)
      best = text, most = count;
  return best;
}

std::string placeOfDifference(const std::string &text) {
  size_t begin = text.find("now:");
  if (begin == std::string::npos)
    begin = text.find("operands:");
  if (begin == std::string::npos)
    begin = text.find(" became ");
  if (begin == std::string::npos)
    begin = text.find(" has other ");
  if (begin == std::string::npos)
    return "";
  const size_t before = text.find("before:", begin), close = text.rfind(')', std::min(before, text.size()));
  const size_t open = close == std::string::npos ? close : text.rfind('(', close);
  if (open == std::string::npos || open < begin)
    return "";
  std::string place = text.substr(open + 1, close - open - 1);
  return place.find(':') != std::string::npos ? place : "";
}

} // namespace millrace::runtime::profile

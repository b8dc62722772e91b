// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.cpp - The environment variables that C++ reads -----------===//
#include "runtime/base/Environment.h"

#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace millrace::runtime::environment {
namespace {

std::string valueOf(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

} // namespace

void warn(const char *name, const std::string &expected, const std::string &value) {
  static std::mutex mutex;
  static auto *told = new std::set<std::string>; // guarded by mutex; threads may ask while the process ends
  std::lock_guard lock(mutex);
  if (told->insert(name + ("=" + value)).second)
    std::fprintf(stderr, "millrace: warning: %s expects %s, but got '%s'; it counts as not set\n", name, expected.c_str(), value.c_str());
}

std::string text(Name<Type::Text> name) { return valueOf(name.text); }

std::optional<bool> asSwitch(Name<Type::Switch> name) {
  const std::string value = valueOf(name.text);
  if (value.empty())
    return std::nullopt;
  std::string lower = value;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  if (lower == "1" || lower == "on" || lower == "yes" || lower == "true" || lower == "y")
    return true;
  if (lower == "0" || lower == "off" || lower == "no" || lower == "false" || lower == "n")
    return false;
  warn(name.text, "1 or 0", value);
  return std::nullopt;
}

std::optional<uint64_t> count(Name<Type::Count> name) {
  const std::string value = valueOf(name.text);
  if (value.empty())
    return std::nullopt;
  uint64_t number = 0;
  const char *end = value.data() + value.size();
  if (auto [at, error] = std::from_chars(value.data(), end, number); error == std::errc() && at == end)
    return number;
  warn(name.text, "a whole number", value);
  return std::nullopt;
}

} // namespace millrace::runtime::environment

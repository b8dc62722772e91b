// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Json.h - Objects and lists of tables, for pages and scripts ---------===//
#pragma once
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/views/Texts.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace millrace::runtime::profile::json {

/// A number with so many digits after the point; 0 for what is no number, which JSON does not have.
inline std::string number(double value, int digits = 0) { return format("%.*f", digits, std::isfinite(value) ? value : 0); }

/// The fields of one object, in the order of the calls.
class Fields {
public:
  Fields &text(const char *name, std::string_view value) { return raw(name, jsonText(value)); }
  Fields &number(const char *name, double value, int digits = 0) { return raw(name, json::number(value, digits)); }
  Fields &count(const char *name, uint64_t value) { return raw(name, std::to_string(value)); }
  /// `json` as it is.
  Fields &raw(const char *name, std::string_view json) {
    out += (out.empty() ? "\"" : ",\"") + std::string(name) + "\":";
    out += json;
    return *this;
  }
  std::string object() const { return "{" + out + "}"; }

private:
  std::string out;
};

/// The list of what `toText` makes of each.
template <typename List, typename ToText> std::string list(const List &all, ToText toText) {
  std::string out = "[";
  for (const auto &each : all)
    out += (out.size() > 1 ? ",\n" : "") + toText(each);
  return out + "]";
}
template <typename List> std::string texts(const List &all) {
  return list(all, [](const auto &each) { return jsonText(each); });
}

} // namespace millrace::runtime::profile::json

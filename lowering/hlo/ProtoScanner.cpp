// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoScanner.cpp - Parts of HLO text -------------------------------===//
#include "lowering/hlo/ProtoScanner.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace millrace::hlo {
namespace {

/// The index after the quoted text that begins at `at`.
size_t afterQuote(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    at += text[at] == '\\';
  return at + 1;
}

} // namespace

size_t closingBracket(StringRef text, size_t start) {
  int depth = 0;
  for (size_t at = start; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = afterQuote(text, at) - 1;
      continue;
    }
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (depth == 0)
      return at;
  }
  return StringRef::npos;
}

SmallVector<StringRef> splitOutside(StringRef text, char separator) {
  SmallVector<StringRef> parts;
  size_t start = 0, at = 0;
  auto close = [&] {
    if (StringRef part = text.slice(start, at).trim(); !part.empty())
      parts.push_back(part);
    start = at + 1;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == separator) {
      close();
    } else if (c == '"') {
      at = std::min(text.size(), afterQuote(text, at));
      continue;
    } else if (c == '(' || c == '[' || c == '{') {
      at = std::min(closingBracket(text, at), text.size() - 1);
    }
    ++at;
  }
  close();
  return parts;
}

StringRef withoutBraces(StringRef text) {
  text = text.trim();
  return text.starts_with("{") && text.ends_with("}") ? text.drop_front().drop_back() : text;
}

SmallVector<int64_t> integers(StringRef text, char separator) {
  SmallVector<int64_t> values;
  for (StringRef part : splitOutside(withoutBraces(text), separator))
    if (int64_t value; !part.getAsInteger(10, value))
      values.push_back(value);
  return values;
}

std::pair<StringRef, StringRef> nameAndValue(StringRef text) {
  auto [name, value] = text.split('=');
  return {name.trim(), value.trim()};
}

std::string unquoted(StringRef text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    return text.str();
  text = text.drop_front().drop_back();
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c >= '0' && c <= '7' && i + 2 < text.size()) {
      out += char((c - '0') << 6 | (text[i + 1] - '0') << 3 | (text[i + 2] - '0'));
      i += 2;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
  }
  return out;
}

} // namespace millrace::hlo

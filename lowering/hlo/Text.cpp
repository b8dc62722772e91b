// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Text.cpp - Attributes, strings and metadata of HLO instructions ----===//
#include "lowering/hlo/Writer.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::hlo {

Attributes &Attributes::add(StringRef name, const Twine &value) {
  text += (", " + name + "=" + value).str();
  return *this;
}

Attributes &Attributes::list(StringRef name, ArrayRef<int64_t> values) { return add(name, braces(values)); }

Attributes &Attributes::flag(StringRef name, bool value) { return value ? add(name, "true") : *this; }

Attributes &Attributes::quoted(StringRef name, StringRef value) { return add(name, quote(value)); }

Attributes &Attributes::config(StringRef name, StringRef value) { return add(name, quoteUnlessBraces(value)); }

std::string braces(ArrayRef<int64_t> values) {
  std::string text = "{";
  llvm::raw_string_ostream os(text);
  llvm::interleave(values, os, ",");
  os << '}';
  return text;
}

std::string quote(StringRef text) {
  std::string quoted = "\"";
  llvm::raw_string_ostream os(quoted);
  for (unsigned char c : text) {
    if (c == '\n')
      os << "\\n";
    else if (c == '\t')
      os << "\\t";
    else if (c == '\r')
      os << "\\r";
    else if (c == '"' || c == '\\' || c == '\'')
      os << '\\' << c;
    else if (c < 0x20 || c >= 0x7f)
      os << '\\' << char('0' + (c >> 6)) << char('0' + (c >> 3 & 7)) << char('0' + (c & 7));
    else
      os << c;
  }
  os << '"';
  return quoted;
}

std::string quoteUnlessBraces(StringRef text) {
  if (!text.starts_with("{"))
    return quote(text);
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString)
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    bool isPlain = c >= 0x20 && c < 0x7f;
    if (!isPlain || (depth == 0 && i + 1 < text.size())) // closes before the end
      return quote(text);
  }
  return depth == 0 && !inString ? text.str() : quote(text);
}

std::string identifier(StringRef text) {
  std::string name = text.str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_' && c != '-' && c != '.')
      c = '_';
  if (name.empty() || (!llvm::isAlpha(name.front()) && name.front() != '_'))
    name = "_" + name;
  return name;
}

void annotate(DictionaryAttr discardable, Attributes &attributes) {
  if (!discardable)
    return;
  if (auto sharding = discardable.getAs<StringAttr>("mhlo.sharding"))
    attributes.add("sharding", sharding.getValue());
  SmallVector<std::string> entries;
  if (auto frontend = discardable.getAs<DictionaryAttr>("mhlo.frontend_attributes"))
    for (NamedAttribute entry : frontend)
      if (auto value = dyn_cast<StringAttr>(entry.getValue()))
        entries.push_back(entry.getName().str() + "=" + quoteUnlessBraces(value.getValue()));
  if (!entries.empty())
    attributes.add("frontend_attributes", "{" + llvm::join(entries, ",") + "}");
}

namespace {

struct Source {
  std::string name; // op_name
  std::string file;
  unsigned line = 0, endLine = 0, column = 0, endColumn = 0;
};

} // namespace

/// Names of all parts, the place of the first that has one. A call site stands for its callee: the line that was
/// written, not the one that called it.
static void collect(Location loc, Source &source, bool named = false) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    if (!named) // names further inside are those of the functions of a traceback
      source.name += (source.name.empty() ? "" : ";") + name.getName().str();
    collect(name.getChildLoc(), source, true);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collect(call.getCallee(), source, named);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collect(part, source, named);
  } else if (auto range = dyn_cast<FileLineColRange>(loc); range && source.file.empty()) {
    source.file = range.getFilename().str();
    source.line = range.getStartLine();
    source.endLine = range.getEndLine();
    source.column = range.getStartColumn();
    source.endColumn = range.getEndColumn();
  }
}

std::string metadataText(Location loc) {
  Source source;
  collect(loc, source);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!source.name.empty())
    os << " op_name=" << quote(source.name);
  if (!source.file.empty()) {
    os << " source_file=" << quote(source.file) << " source_line=" << source.line << " source_end_line=" << source.endLine;
    os << " source_column=" << source.column << " source_end_column=" << source.endColumn;
  }
  return text.empty() ? "" : ", metadata={" + text.substr(1) + "}";
}

} // namespace millrace::hlo

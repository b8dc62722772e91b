// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplainHtml.cpp - The report on shardings as one page --------------===//
// The text has lines for meshes, then sections of tensors after an empty line: a heading that ends in a colon, a line for each tensor that
// begins in its first column, indented lines that say why (passes/sharding/explain/Explanation.cpp). After "collectives of each device:" there is
// one line for each collective and one for the sum (Communication.cpp).
#include "passes/spmd/Explain.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;

namespace millrace::spmd {
namespace {

std::string escaped(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  printHTMLEscaped(text, os);
  return result;
}

/// Splits "what  (places)" into two parts.
std::pair<StringRef, StringRef> splitPlaces(StringRef text) {
  auto [what, places] = text.rsplit("  (");
  return {what, places.ends_with(")") ? places.drop_back() : places};
}

int64_t bytesOf(StringRef collective) {
  int64_t bytes = 0;
  collective.split(": ").second.split(" bytes").first.getAsInteger(10, bytes);
  return bytes;
}

void writeTensor(StringRef head, ArrayRef<StringRef> why, raw_ostream &os) {
  auto [what, places] = splitPlaces(head);
  auto [place, rest] = what.rsplit(" : ");
  auto [type, sharding] = rest.split(" #sdy.sharding");
  os << "<tr><td>" << escaped(place) << "</td><td><code>" << escaped(type) << "</code></td><td><code>" << escaped(sharding)
     << "</code></td><td>";
  if (!why.empty()) {
    os << "<ul>";
    for (StringRef line : why)
      os << "<li"
         << (line.ends_with(": annotated here") ? " class=\"own\"" : line.starts_with("rule of ") ? " class=\"rule\"" : "")
         << ">" << escaped(line) << "</li>";
    os << "</ul>";
  }
  os << "</td><td class=\"where\">" << escaped(places) << "</td></tr>\n";
}

/// Writes a section; sharded tensors are visible at once, the others after a click.
void writeSection(StringRef section, raw_ostream &os) {
  SmallVector<StringRef> lines;
  section.split(lines, '\n', -1, false);
  if (lines.empty())
    return;
  StringRef title = lines.front().trim(':');
  size_t rows = count_if(drop_begin(lines), [](StringRef line) { return !line.starts_with(" "); });
  os << "<details" << (title.starts_with("whole") ? "" : " open") << "><summary>" << escaped(title) << " (" << rows
     << ")</summary>\n<table><thead><tr><th>tensor</th><th>type</th><th>sharding</th><th>because</th><th>line</th></tr></thead><tbody>\n";
  for (size_t i = 1; i < lines.size();) {
    StringRef head = lines[i++];
    SmallVector<StringRef> why;
    for (; i < lines.size() && lines[i].starts_with("  "); ++i)
      why.push_back(lines[i].trim());
    writeTensor(head, why, os);
  }
  os << "</tbody></table></details>\n";
}

void writeCollectives(StringRef text, raw_ostream &os) {
  SmallVector<StringRef> moves;
  text.split(moves, '\n', -1, false);
  os << "<h2>Collectives of each device</h2>\n"
     << "<table><thead><tr><th>operation</th><th>cost</th><th></th><th>line</th></tr></thead><tbody>\n";
  int64_t most = 1;
  for (StringRef move : moves)
    most = std::max(most, bytesOf(move));
  StringRef sum;
  for (StringRef move : moves) {
    if (!move.contains(" among ")) {
      sum = move;
      continue;
    }
    auto [what, places] = splitPlaces(move.trim());
    auto [operation, cost] = what.split(": ");
    os << "<tr><td><code>" << escaped(operation) << "</code></td><td>" << escaped(cost)
       << "</td><td class=\"bars\"><div class=\"bar\" style=\"width:" << 100 * bytesOf(move) / most
       << "%\"></div></td><td class=\"where\">" << escaped(places) << "</td></tr>\n";
  }
  os << "</tbody></table>\n<p>" << escaped(sum.trim()) << "</p>\n";
}

} // namespace

std::string explanationPage(StringRef report, StringRef title) {
  std::string page;
  raw_string_ostream os(page);
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << escaped(title) << "</title>\n<style>\n"
     << "body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:100em}table{border-collapse:collapse;width:100%}\n"
     << "td,th{text-align:left;vertical-align:top;padding:.25em .6em;border-bottom:1px solid #ddd}code{font-size:13px}\n"
     << "summary{font-size:1.2em;margin:.8em 0 .4em;cursor:pointer}ul{margin:0;padding-left:1.1em}.own{color:#0a6b2d}\n"
     << ".rule,.where{color:#666}.rule{font:12px monospace;list-style:none}.bars{width:12em}.bar{background:#4a7fb5;height:.8em}\n"
     << "</style></head><body>\n<h1>" << escaped(title) << "</h1>\n";
  auto [tensors, collectives] = report.split("\ncollectives of each device:\n");
  auto [meshes, sections] = tensors.split("\n\n");
  SmallVector<StringRef> parts, names;
  meshes.split(names, '\n', -1, false);
  for (StringRef mesh : names)
    os << "<p><code>" << escaped(mesh) << "</code></p>\n";
  os << "<h2>Tensors</h2>\n";
  sections.split(parts, "\n\n", -1, false);
  for (StringRef part : parts)
    writeSection(part, os);
  writeCollectives(collectives, os);
  os << "</body></html>\n";
  return page;
}

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplainHtml.cpp - The report on shardings as one page --------------===//
// A line that begins in its first column opens a tensor, indented lines say why; after "collectives of each device:" one line
// for each collective and one for the sum (passes/sharding/Origins.cpp, passes/spmd/Communication.cpp).
#include "passes/spmd/Explain.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;

namespace millrace::spmd {
namespace {

std::string escaped(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

/// "what  (file:line)" as two parts.
std::pair<StringRef, StringRef> splitLine(StringRef text) {
  auto [what, line] = text.split("  (");
  return {what, line.ends_with(")") ? line.drop_back() : line};
}

int64_t bytesOf(StringRef collective) {
  int64_t bytes = 0;
  collective.split(": ").second.split(" bytes").first.getAsInteger(10, bytes);
  return bytes;
}

void writePage(StringRef report, StringRef title, raw_ostream &os) {
  auto [tensors, collectives] = report.split("\ncollectives of each device:\n");
  SmallVector<StringRef> lines, moves;
  tensors.split(lines, '\n', -1, false);
  collectives.split(moves, '\n', -1, false);
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << escaped(title) << "</title>\n<style>\n"
     << "body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:90em}table{border-collapse:collapse;width:100%}"
     << "td,th{text-align:left;vertical-align:top;padding:.25em .6em;border-bottom:1px solid #ddd}code{font-size:13px}"
     << "ul{margin:0;padding-left:1.1em}.own{color:#0a6b2d}.bar{background:#4a7fb5;height:.8em}.where{color:#666;white-space:nowrap}\n"
     << "</style></head><body>\n<h1>" << escaped(title) << "</h1>\n<h2>Tensors</h2>\n"
     << "<table><tr><th>tensor</th><th>type</th><th>sharding</th><th>because</th><th>line</th></tr>\n";
  for (size_t i = 0; i < lines.size();) {
    auto [what, where] = splitLine(lines[i++]);
    auto [place, rest] = what.split(" : ");
    auto [type, sharding] = rest.split(" #sdy.sharding");
    os << "<tr><td>" << escaped(place) << "</td><td><code>" << escaped(type) << "</code></td><td><code>" << escaped(sharding)
       << "</code></td><td><ul>";
    for (; i < lines.size() && lines[i].starts_with("  "); ++i)
      os << "<li" << (lines[i].ends_with("annotated here") ? " class=\"own\"" : "") << ">" << escaped(lines[i].trim()) << "</li>";
    os << "</ul></td><td class=\"where\">" << escaped(where) << "</td></tr>\n";
  }
  os << "</table>\n<h2>Collectives of each device</h2>\n<table><tr><th>operation</th><th>cost</th><th></th><th>line</th></tr>\n";
  int64_t most = 1;
  for (StringRef move : moves)
    most = std::max(most, bytesOf(move));
  StringRef sum;
  for (StringRef move : moves) {
    if (!move.contains(" among ")) {
      sum = move;
      continue;
    }
    auto [what, where] = splitLine(move.trim());
    auto [operation, cost] = what.split(": ");
    os << "<tr><td><code>" << escaped(operation) << "</code></td><td>" << escaped(cost) << "</td><td style=\"width:12em\"><div class=\"bar\" style=\"width:"
       << 100 * bytesOf(move) / most << "%\"></div></td><td class=\"where\">" << escaped(where) << "</td></tr>\n";
  }
  os << "</table>\n<p>" << escaped(sum.trim()) << "</p>\n</body></html>\n";
}

} // namespace

std::string explanationPage(StringRef report, StringRef title) {
  std::string page;
  raw_string_ostream os(page);
  writePage(report, title, os);
  return page;
}

} // namespace millrace::spmd

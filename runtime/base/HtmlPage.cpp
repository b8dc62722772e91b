// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HtmlPage.cpp - Pages of one file -------------------------------------===//
#include "runtime/base/HtmlPage.h"
#include "runtime/base/PageGraph.h"
#include "runtime/base/PageStyle.h"

namespace millrace::runtime {
namespace {

constexpr const char kGraphPage[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title>
<style>@STYLE@</style></head><body>
<h1>@TITLE@</h1><section>@GRAPH@</section>
<script type="application/json" id="data">@DATA@</script>
<script>@TOOLS@
const graphs = JSON.parse(byId("data").textContent), nsOf = new Map();
byId("paint").value = "layout";
@SCRIPT@</script></body></html>
)page";

/// The title of a graph in its JSON.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (uint8_t(c) >= 0x20)
      out += c;
  return out + "\"";
}

} // namespace

std::string inHtml(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

std::string inScript(std::string json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (size_t i = 0; i < json.size(); ++i)
    if (json[i] == '<' && i + 1 < json.size() && (json[i + 1] == '/' || json[i + 1] == '!'))
      out += "\\u003c";
    else
      out += json[i];
  return out;
}

void putInPage(std::string &page, std::string_view mark, std::string_view content) {
  for (size_t at = 0; (at = page.find(mark, at)) != std::string::npos; at += content.size())
    page.replace(at, mark.size(), content);
}

std::string graphPage(const std::string &title, const std::vector<std::pair<std::string, std::string>> &graphs) {
  std::string page = kGraphPage, data;
  for (const auto &[name, graph] : graphs)
    data += (data.empty() ? "" : ",\n") + ("{\"name\":" + quoted(name)) + ",\"graph\":" + graph + "}";
  putInPage(page, "@STYLE@", kPageStyle);
  putInPage(page, "@TOOLS@", kPageTools);
  putInPage(page, "@GRAPH@", kGraphBody);
  putInPage(page, "@SCRIPT@", kPageGraph);
  putInPage(page, "@TITLE@", inHtml(title)); // before the data, which may contain marks
  const std::string mark = "@DATA@";
  page.replace(page.rfind(mark), mark.size(), "[" + inScript(data) + "]");
  return page;
}

} // namespace millrace::runtime

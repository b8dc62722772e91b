// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HtmlPage.h - Pages of one file ---------------------------------------===//
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// A text with everything that HTML reads otherwise as entities.
std::string inHtml(std::string_view text);
/// JSON for a script element, which "</" would end.
std::string inScript(std::string json);
/// Replaces every `mark`, but none in what is put there.
void putInPage(std::string &page, std::string_view mark, std::string_view content);

/// A page that needs no other file and no network, with the graphs of some programs: title, and JSON as PageGraph.h describes it.
std::string graphPage(const std::string &title, const std::vector<std::pair<std::string, std::string>> &graphs);

} // namespace millrace::runtime

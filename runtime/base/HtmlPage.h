// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HtmlPage.h - HTML pages of one file ----------------------------------===//
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// Returns the text with the characters that have a meaning in HTML as entities.
std::string inHtml(std::string_view text);
/// Returns the JSON with "</" escaped, which would end a script element.
std::string inScript(std::string json);
/// Replaces every `mark` by `content`; marks within `content` stay.
void putInPage(std::string &page, std::string_view mark, std::string_view content);

/// Returns a page with the graphs of some programs (title, and JSON as PageGraph.h describes it) that needs no other file and no network.
std::string graphPage(const std::string &title, const std::vector<std::pair<std::string, std::string>> &graphs);

} // namespace millrace::runtime

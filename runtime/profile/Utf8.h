// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Utf8.h - Texts of recordings, whatever bytes they have --------------===//
#pragma once
#include <string>
#include <string_view>

namespace millrace::runtime::profile {

/// Bytes of the character that begins `text`, 0 where none does. Overlong forms and surrogates are none.
size_t characterAt(std::string_view text);

/// `text` with U+FFFD for each byte that belongs to no character.
std::string validUtf8(std::string_view text);

// Characters of a name in a table: lines of tables stay readable. Unit: characters. Source: judgement.
inline constexpr size_t kWidestName = 120;
// Characters of a sentence that has names in it. Unit: characters. Source: judgement: some lines of a terminal.
inline constexpr size_t kLongestSentence = 1200;

/// `text` for a terminal, which obeys control characters: they are shown as \x1b or \n. Of a text of more than `most` characters the middle is left out.
std::string forTerminal(std::string_view text, size_t most = kWidestName);

} // namespace millrace::runtime::profile

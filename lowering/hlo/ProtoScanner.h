// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoScanner.h - Parts of HLO text ---------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>

namespace millrace::hlo {

/// The index of the bracket that closes the one at `start`, or npos. Brackets in quotes do not count.
size_t closingBracket(llvm::StringRef text, size_t start);
/// `text` at `separator` outside of brackets and quotes; parts without blanks around them, none for an empty text.
llvm::SmallVector<llvm::StringRef> splitOutside(llvm::StringRef text, char separator = ',');
/// Without the braces around it, if there are.
llvm::StringRef withoutBraces(llvm::StringRef text);
/// The integers of `{1,2}` or `1,2`, or of another separator.
llvm::SmallVector<int64_t> integers(llvm::StringRef text, char separator = ',');
/// {name, value} of `name=value`; the value is empty without '='.
std::pair<llvm::StringRef, llvm::StringRef> nameAndValue(llvm::StringRef text);
/// What a quoted text says; a text without quotes as it is.
std::string unquoted(llvm::StringRef text);
/// Without the % that may stand before names.
inline llvm::StringRef plainName(llvm::StringRef name) {
  name.consume_front("%");
  return name;
}

} // namespace millrace::hlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Version.cpp - Versions of the portable format ----------------------===//
#include "dialects/vhlo/Version.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace millrace::vhlo {

std::optional<Version> Version::parse(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, '.');
  int numbers[3];
  if (parts.size() != 3)
    return std::nullopt;
  for (auto [part, number] : llvm::zip(parts, numbers))
    if (part.empty() || !llvm::all_of(part, llvm::isDigit) || part.getAsInteger(10, number))
      return std::nullopt;
  return Version(numbers[0], numbers[1], numbers[2]);
}

std::string Version::str() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

int bytecodeFormat(Version version) {
  if (version < Version(0, 10))
    return 0;
  if (version < Version(0, 12))
    return 1;
  if (version < Version(0, 14))
    return 3;
  if (version < Version(0, 15))
    return 4;
  return 6; // properties are encoded natively from this version on
}

} // namespace millrace::vhlo

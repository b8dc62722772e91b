// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpTable.h - The operations of the portable format ------------------===//
#pragma once
#include "dialects/vhlo/Version.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace millrace::vhlo {

/// One operation of the format. Lists are words separated by spaces; a trailing `*` marks a variadic one. Attributes are required; their order is
/// that of the bytecode (alphabetical).
struct OpDef {
  llvm::StringLiteral name; ///< without `vhlo.`: stem, `_v`, number
  Version min, max;         ///< the first and the last version with the operation
  llvm::StringLiteral operands, attributes, regions, results;

  llvm::StringRef stem() const { return name.rsplit("_v").first; }
  int number() const { return name.back() - '0'; }
  llvm::SmallVector<llvm::StringRef> attributeNames() const;
  bool existsIn(Version version) const { return min <= version && version <= max; }
};

/// Returns all operations, in alphabetical order.
llvm::ArrayRef<OpDef> opTable();
/// Returns the operation `stem_v<number>`, or null.
const OpDef *lookupOp(llvm::StringRef stem, int number);
/// Returns the operation called `name`, with or without `vhlo.`, or null.
const OpDef *lookupOp(llvm::StringRef name);
/// Returns the operation `stem` of the current version, or null.
const OpDef *currentOp(llvm::StringRef stem);

} // namespace millrace::vhlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.h - Structured attributes, taken apart in the portable format ===//
#pragma once
#include "dialects/vhlo/Builtin.h"

namespace millrace::vhlo {

/// Reads the members of a group one after the other; `ok` becomes false at the first wrong one.
class MemberReader {
public:
  explicit MemberReader(llvm::ArrayRef<mlir::Attribute> members) : members(members) {}
  bool ok = true;
  int64_t integer();
  llvm::SmallVector<int64_t> integers();
  mlir::Type type();
  bool boolean();

private:
  mlir::Attribute next() { return members[position++]; }
  llvm::ArrayRef<mlir::Attribute> members;
  size_t position = 0;
};

/// Writes the members of a group one after the other.
class MemberWriter {
public:
  explicit MemberWriter(mlir::MLIRContext *context) : context(context) {}
  void integer(int64_t value);
  void integers(llvm::ArrayRef<int64_t> values);
  void type(mlir::Type type);
  void boolean(bool value);
  void none();
  llvm::SmallVector<mlir::Attribute> members;

private:
  mlir::MLIRContext *context;
};

/// One attribute of StableHLO that the portable format splits into several.
struct AttributeGroup {
  llvm::StringLiteral ops;     ///< stems, separated by spaces
  llvm::StringLiteral name;    ///< in StableHLO
  llvm::StringLiteral members; ///< in the portable format, in the order of pack and unpack
  bool optional;               ///< StableHLO may omit the attribute; the portable format then has the members that `unpack` returns for null
  mlir::Attribute (*pack)(mlir::MLIRContext *context, MemberReader &in, EmitError emitError);
  void (*unpack)(mlir::Attribute attr, MemberWriter &out);

  /// Sets `packed` from the members of the portable `op`; null if StableHLO has none.
  mlir::LogicalResult fromVhlo(mlir::Operation *op, mlir::Attribute &packed) const;
  /// Adds the members for `attr` (which may be null) of `op`.
  mlir::LogicalResult toVhlo(mlir::Operation *op, mlir::Attribute attr, mlir::NamedAttrList &attributes) const;
};

/// The groups of an operation's attributes.
llvm::SmallVector<AttributeGroup, 2> groupsOf(llvm::StringRef stem);
/// Returns true if the portable attribute is a member of a group.
bool inGroup(llvm::StringRef stem, llvm::StringRef attribute);

} // namespace millrace::vhlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rebuild.h - Change a program's operations in place -----------------===//
// Conversions between dialects whose operations correspond one to one: first all values get their new types, then each
// operation is replaced by its counterpart. No casts, no type converters.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace millrace::vhlo {

/// Gives every operation result and block argument in `module` the type `convert(type, owner)`, if the owner is one of
/// those `mayChange` names (null: all). Fails without a change if `convert` gives null (after it reported an error).
mlir::LogicalResult retypeValues(mlir::ModuleOp module,
                                 llvm::function_ref<mlir::Type(mlir::Type, mlir::Operation *)> convert,
                                 llvm::function_ref<bool(mlir::Operation *)> mayChange = nullptr);

/// Makes the operation `name` in front of `op`, with its result types and location, and moves its regions there.
mlir::Operation *rebuild(mlir::Operation *op, llvm::StringRef name, mlir::ValueRange operands,
                         const mlir::NamedAttrList &attributes);
/// Replaces `op` by `replacement` and erases it.
void replace(mlir::Operation *op, mlir::Operation *replacement);

/// Puts the uses of every value in the order in which upstream's conversion leaves them: that of the program, which is a
/// parser's, except at casts. Bytecode records every other order.
void orderUses(mlir::ModuleOp module);

} // namespace millrace::vhlo

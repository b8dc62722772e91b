// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpVersions.h - An operation in the version before or after ---------===//
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

/// Makes `next`, the version of `op` after it (upgrade) or before it (downgrade), in front of it. Null, with the reason in
/// `why`, if that cannot say the same.
mlir::Operation *upgradeOp(mlir::Operation *op, const OpDef &next, mlir::ValueRange operands, std::string &why);
mlir::Operation *downgradeOp(mlir::Operation *op, const OpDef &next, mlir::ValueRange operands, std::string &why);

} // namespace millrace::vhlo

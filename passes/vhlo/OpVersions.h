// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpVersions.h - An operation in the version before or after ---------===//
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

/// Creates `next`, the version after `op` (upgrade) or before it (downgrade), before `op`. Returns null, with the reason in `why`, if `next` cannot
/// express the same.
mlir::Operation *upgradeOp(mlir::Operation *op, const OpDef &next, mlir::ValueRange operands, std::string &why);
mlir::Operation *downgradeOp(mlir::Operation *op, const OpDef &next, mlir::ValueRange operands, std::string &why);

} // namespace millrace::vhlo

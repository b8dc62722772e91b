// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpVersions.h - An operation in the version before or after ---------===//
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

/// Replaces `op` by `next`, the version of it after (upgrade) or before (downgrade). Null, with the reason in `why`, if that
/// cannot say the same.
mlir::Operation *upgradeOp(mlir::Operation *op, const OpDef &next, std::string &why);
mlir::Operation *downgradeOp(mlir::Operation *op, const OpDef &next, std::string &why);

} // namespace millrace::vhlo

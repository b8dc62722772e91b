// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpMap.h - Operations of StableHLO and func <-> portable ones -------===//
// An operation has the same operands, results and regions in both. Attributes mostly have the same names; structured ones
// are taken apart in the portable format, and defaults are spelled out there.
#pragma once
#include "dialects/vhlo/Builtin.h"

namespace millrace::vhlo {

/// Returns the portable operation for `op` of StableHLO or func in the current version; null if there is none.
const OpDef *portableOp(mlir::Operation *op);
/// Returns the name of the operation for the portable `op`.
std::string stablehloName(mlir::Operation *op, const OpDef &def);

/// Converts the attributes of `op`, of StableHLO or func, to portable attributes of `def`.
mlir::LogicalResult attributesToVhlo(mlir::Operation *op, const OpDef &def, bool allowOthers,
                                     mlir::NamedAttrList &attributes);
/// Converts the attributes of the portable `op`, a `def` of the current version, to attributes of StableHLO or func.
mlir::LogicalResult attributesFromVhlo(mlir::Operation *op, const OpDef &def, mlir::NamedAttrList &attributes);

} // namespace millrace::vhlo

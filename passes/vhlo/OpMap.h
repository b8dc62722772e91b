// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpMap.h - Operations of StableHLO and func <-> portable ones -------===//
// An operation has the same operands, results and regions in both. Attributes mostly have the same names; structured ones
// are taken apart in the portable format, and defaults are spelled out there.
#pragma once
#include "dialects/vhlo/Builtin.h"

namespace millrace::vhlo {

/// The portable operation that `op` of StableHLO or func becomes in the current version; null if there is none.
const OpDef *portableOp(mlir::Operation *op);
/// The name of the operation that the portable `op` becomes.
std::string stablehloName(mlir::Operation *op, const OpDef &def);

/// Attributes of `op`, of StableHLO or func, as portable attributes of `def`.
mlir::LogicalResult attributesToVhlo(mlir::Operation *op, const OpDef &def, bool allowOthers,
                                     mlir::NamedAttrList &attributes);
/// Attributes of the portable `op`, a `def` of the current version, as attributes of StableHLO or func.
mlir::LogicalResult attributesFromVhlo(mlir::Operation *op, const OpDef &def, mlir::NamedAttrList &attributes);

} // namespace millrace::vhlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeChlo.h - Legalize CHLO before the evaluation ----------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::tools {

/// Runs chlo-legalize-to-stablehlo on `module` if it has chlo operations, because the evaluator supports StableHLO only.
mlir::LogicalResult legalizeChlo(mlir::ModuleOp module);

/// Runs stablehlo-legalize-deprecated-ops on `module` if it has einsum, unary_einsum, cross-replica-sum or torch_index_select, which have no form in
/// HLO. Operations that cannot be replaced stay.
mlir::LogicalResult legalizeDeprecated(mlir::ModuleOp module);

} // namespace millrace::tools

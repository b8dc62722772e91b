// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeChlo.h - CHLO operations away before evaluation ------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::tools {

/// Runs chlo-legalize-to-stablehlo on `module` if it has chlo operations: the evaluator knows StableHLO only.
mlir::LogicalResult legalizeChlo(mlir::ModuleOp module);

} // namespace millrace::tools

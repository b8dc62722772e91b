// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Between StableHLO and its portable format ---------------===//
#pragma once

#include "dialects/vhlo/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::vhlo {

/// Converts StableHLO and func to the current version of the portable format, in place. Without `allowOtherDialects` everything must have a
/// counterpart; with it other operations stay, between unrealized conversion casts.
mlir::LogicalResult legalizeToVhlo(mlir::ModuleOp module, bool allowOtherDialects);
/// Converts the portable format of any version to that of `target`, in place.
mlir::LogicalResult convertToVersion(mlir::ModuleOp module, Version target);
/// Converts the current version of the portable format to StableHLO and func, in place. Other operations get builtin types, and casts between the two
/// kinds of types are removed.
mlir::LogicalResult legalizeToStablehlo(mlir::ModuleOp module);

#define GEN_PASS_DECL
#include "passes/vhlo/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/vhlo/Passes.h.inc"

/// Registers the pipeline `stablehlo-deserialize`: to the current version, then to StableHLO.
void registerVhloPipelines();

} // namespace millrace::vhlo

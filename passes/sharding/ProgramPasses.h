// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramPasses.h - Passes before and after propagation --------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::sharding {

#define GEN_PASS_DECL
#include "passes/sharding/ProgramPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/sharding/ProgramPasses.h.inc"

/// Writes the module to `directory`/`name`.mlir; does nothing if `directory` is empty, and creates it if it is not there.
mlir::LogicalResult saveModule(mlir::ModuleOp module, llvm::StringRef directory, llvm::StringRef name);

} // namespace millrace::sharding

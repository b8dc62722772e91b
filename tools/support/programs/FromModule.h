// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FromModule.h - A translation of xla-translate from a module --------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace millrace::tools {

/// Registers `--NAME` with mlirTranslateMain: `function` is given the parsed and verified module, which may stand in the
/// file as text, bytecode or portable artifact. Unlike MLIR's own registration this one validates bytecode before MLIR reads it.
struct FromModule {
  FromModule(llvm::StringRef name, llvm::StringRef description,
             std::function<mlir::LogicalResult(mlir::ModuleOp, llvm::raw_ostream &)> function);
};

} // namespace millrace::tools

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FromModule.h - Register a translation of xla-translate --------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace millrace::tools {

/// Registers `--NAME` with mlirTranslateMain. `function` gets the parsed and verified module, whose file may be text, bytecode or a portable
/// artifact. Unlike MLIR's own registration, this one validates bytecode before MLIR reads it.
struct FromModule {
  FromModule(llvm::StringRef name, llvm::StringRef description,
             std::function<mlir::LogicalResult(mlir::ModuleOp, llvm::raw_ostream &)> function);
};

} // namespace millrace::tools

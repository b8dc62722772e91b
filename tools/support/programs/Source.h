// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Source.h - Program files: StableHLO text, bytecode, compiled -------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <string>

namespace millrace::tools {

/// A context with the dialects of the compiler, and a handler that prints diagnostics with their source line.
class Session {
public:
  Session();
  ~Session();
  mlir::MLIRContext &context() { return *mlirContext; }

  /// Parses and verifies the StableHLO module in `path` ("-" is standard input): text, bytecode or portable artifact. Returns null after an error was
  /// printed.
  mlir::OwningOpRef<mlir::ModuleOp> load(const std::string &path);

private:
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  std::unique_ptr<llvm::SourceMgr> sources;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

/// Returns true if the file begins like a compiled program (`.mr`).
bool isCompiledProgram(const std::string &path);

/// Prints "TOOL: error: MESSAGE" and returns 1.
int fail(llvm::StringRef tool, llvm::StringRef message);

} // namespace millrace::tools

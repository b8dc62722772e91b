// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PortableArtifact.h - StableHLO programs as portable bytecode -------===//
#pragma once

#include "dialects/vhlo/Version.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::vhlo {

/// Returns the version for which the artifact was written; nullopt if it does not say (some old artifacts do not).
std::optional<Version> artifactVersion(llvm::StringRef bytes);

/// Reports, as an error of `context`, that `bytes` have a newer version than this reader, if they have. Callers that could not read the bytes call
/// it, whatever the error was.
void blameVersion(llvm::StringRef bytes, mlir::MLIRContext &context);

/// Reads a portable artifact of any version (or its text), pure or mixed with other dialects (which `context` must know), and
/// gives the verified program in StableHLO and func. Bytes may be anything: null after diagnostics to `context`. Loads the dialects it
/// needs. Not for two threads on one context.
mlir::OwningOpRef<mlir::ModuleOp> readPortableArtifact(llvm::StringRef bytes, mlir::MLIRContext &context);

/// Converts what `module` contains of the portable format, of any version, to StableHLO and func, and verifies the result.
/// Nothing happens to a program without. Fails after diagnostics.
mlir::LogicalResult fromPortableFormat(mlir::ModuleOp module);

struct WriteOptions {
  bool allowOtherDialects = false; ///< keep operations and attributes without a portable form (not stable)
};

/// Writes `module` (StableHLO and func) for readers of version `targetVersion`, "X.Y.Z" or "current". `module` stays as it
/// is. Fails after diagnostics, without output, if that version cannot say what the program says.
mlir::LogicalResult writePortableArtifact(mlir::ModuleOp module, llvm::StringRef targetVersion, llvm::raw_ostream &os,
                                          const WriteOptions &options = {});

} // namespace millrace::vhlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PortableArtifact.h - StableHLO programs as portable bytecode -------===//
#pragma once

#include "dialects/vhlo/Version.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::vhlo {

/// Returns the version for which the artifact was written; nullopt if it has no version, as some old artifacts.
std::optional<Version> artifactVersion(llvm::StringRef bytes);

/// Reports an error of `context` if `bytes` have a newer version than this reader. Callers that failed to read the bytes call it, whatever their error
/// was.
void reportNewerVersion(llvm::StringRef bytes, mlir::MLIRContext &context);

/// Reads a portable artifact of any version, as bytecode or text, and returns the verified program in StableHLO and func. The artifact may contain
/// other dialects that `context` knows. Returns null after diagnostics if the bytes are not valid. Loads the dialects that it needs, so that two
/// threads must not use it with one context.
mlir::OwningOpRef<mlir::ModuleOp> readPortableArtifact(llvm::StringRef bytes, mlir::MLIRContext &context);

/// Converts all operations of `module` that are in the portable format, of any version, to StableHLO and func, and verifies the result. A module
/// without such operations is unchanged. Fails after diagnostics.
mlir::LogicalResult fromPortableFormat(mlir::ModuleOp module);

struct WriteOptions {
  bool allowOtherDialects = false; ///< keep operations and attributes without a portable form (not stable)
};

/// Writes `module` (StableHLO and func) for readers of version `targetVersion`, "X.Y.Z" or "current". `module` is not changed. Fails after
/// diagnostics, without output, if that version cannot represent the program.
mlir::LogicalResult writePortableArtifact(mlir::ModuleOp module, llvm::StringRef targetVersion, llvm::raw_ostream &os,
                                          const WriteOptions &options = {});

} // namespace millrace::vhlo

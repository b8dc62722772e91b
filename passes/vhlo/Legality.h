// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Legality.h - What a version of the portable format can say ---------===//
#pragma once
#include "dialects/vhlo/Builtin.h"

namespace millrace::vhlo {

/// Returns true if version `target` (X.Y.0) supports `op` with its attributes, types and location; otherwise `why` says what the version lacks.
bool isLegal(mlir::Operation *op, Version target, std::string &why);
/// Emits the error about an operation that is not legal, with the reason as a note. Returns failure.
mlir::LogicalResult reportIllegal(mlir::Operation *op, llvm::StringRef why);

/// Parses a version X.Y.Z that this library can read and write.
mlir::FailureOr<Version> parseTargetVersion(llvm::StringRef text, EmitError emitError);

} // namespace millrace::vhlo

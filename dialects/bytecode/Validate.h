// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Validate.h - Validation of untrusted bytecode -----------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace millrace::bytecode {

/// Succeeds if MLIR's bytecode reader can read `bytes` safely: the whole structure (sections, tables, attributes and types, operations) is in bounds,
/// without cycles, and within the limits of Artifact.h, and builtin attributes and types satisfy the checks of MLIR's text parser. Otherwise `error`
/// says what is wrong at which byte. MLIR's reader checks less and crashes. The verifier, not this function, checks whether operations are valid.
/// Thread-safe.
mlir::LogicalResult validateBytecode(llvm::StringRef bytes, std::string &error);

/// Returns true if `bytes` begins like bytecode; else it is text.
bool isBytecode(llvm::StringRef bytes);

/// Checks a buffer for callers with a parser of their own. Text is returned unchanged, except for the conversion of HexBools.h. Bytecode is
/// validated, and copied if it is not aligned as MLIR's reader requires. Returns null, with `error`, if it is not valid.
std::unique_ptr<llvm::MemoryBuffer> checkedBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, std::string &error);

/// Parses and verifies a module in text or bytecode, the latter after validation. `name` is the file name in locations. Returns null after errors,
/// which the context's diagnostic handlers get.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::StringRef code, const mlir::ParserConfig &config, llvm::StringRef name);

} // namespace millrace::bytecode

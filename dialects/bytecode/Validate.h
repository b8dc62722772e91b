// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Validate.h - Bytecode from strangers, checked before MLIR reads it -===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace millrace::bytecode {

/// Success if MLIR's bytecode reader can be given `bytes`: all of the structure (sections, tables, attributes and types,
/// operations) is in bounds, without cycles, within the limits of Artifact.h, and builtin attributes and types are as
/// MLIR's text parser would have them. Otherwise `error` says what is wrong at which byte. MLIR's reader itself checks
/// less and crashes. Whether operations are valid is for the verifier to say. Thread-safe.
mlir::LogicalResult validateBytecode(llvm::StringRef bytes, std::string &error);

/// True if `bytes` begins as bytecode does; else it is text.
bool isBytecode(llvm::StringRef bytes);

/// For callers whose parser is given a buffer. Text is returned as it is, but for what HexBools.h says; bytecode is validated,
/// and copied if it is not aligned as MLIR's reader wants it. Null and `error` if it is not valid.
std::unique_ptr<llvm::MemoryBuffer> checkedBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, std::string &error);

/// Parses and verifies a module in text or bytecode, the latter after validation. `name` is the file's in locations.
/// Null after errors were given to the context's diagnostic handlers.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::StringRef code, const mlir::ParserConfig &config, llvm::StringRef name);

} // namespace millrace::bytecode

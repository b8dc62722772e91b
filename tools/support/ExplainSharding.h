// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplainSharding.h - xla-compile --explain-sharding -----------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace millrace::tools {

/// Propagates and partitions the module, and prints for every tensor that is split its sharding, for every axis the annotation
/// and the operation it came through with their lines, and every collective with the bytes that a device receives. False, with
/// the error reported, if the program cannot be partitioned.
bool explainSharding(mlir::ModuleOp module, llvm::raw_ostream &os);

/// The report in the form that the file's name asks for: a page that needs no other file for `.html`, else as it is.
std::string explanationFor(llvm::StringRef file, llvm::StringRef report, llvm::StringRef title);

} // namespace millrace::tools

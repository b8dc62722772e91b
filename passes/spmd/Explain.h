// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explain.h - How a program is sharded, why, and what it costs -------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace millrace::spmd {

/// Propagates and partitions the module, and prints why every tensor is split as it is, or whole (sharding::Explanation), and every
/// collective with the bytes that a device receives. Errors are reported at the operation that cannot be partitioned. Needs
/// calls::prepareCollectives.
llvm::LogicalResult explainSharding(mlir::ModuleOp module, llvm::raw_ostream &os);

/// Partitions the module, all of whose values have shardings, and prints the collectives as explainSharding() does.
llvm::LogicalResult explainCollectives(mlir::ModuleOp module, llvm::raw_ostream &os);

/// The report as a page that needs no other file.
std::string explanationPage(llvm::StringRef report, llvm::StringRef title);

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.h - The report of --explain-sharding -------------------===//
#pragma once

#include "passes/autosharding/PlanPage.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace millrace::tools {

/// Writes how every value of `module` is sharded and why to the file `output` (a page if it ends with .html; printed if empty). `input` is the
/// program's name. With `planned`, the report begins with the `ranked` meshes, the costs of the plan, and of every tensor its alternatives, which are the
/// reasons; if the program as annotated was taken, `reasons` follows, those of propagation. Returns the tool's exit status.
int writeExplanation(mlir::ModuleOp module, const std::string &input, const std::string &output, const autosharding::AutoShardingReport *planned = nullptr,
                     llvm::ArrayRef<autosharding::RankedMesh> ranked = {}, llvm::StringRef reasons = {});

} // namespace millrace::tools

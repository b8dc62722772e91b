// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.h - --explain-sharding ---------------------------------===//
#pragma once

#include "passes/autosharding/PlanPage.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace millrace::tools {

/// Writes how every value of `module` is sharded and why to the file `output` (a page if it ends in .html; printed if empty). `input` is the
/// program's name. With `planned`, what the plan costs and what others would stand in front, and `ranked` meshes. Returns the tool's exit status.
int writeExplanation(mlir::ModuleOp module, const std::string &input, const std::string &output, const autosharding::AutoShardingReport *planned = nullptr,
                     llvm::ArrayRef<autosharding::RankedMesh> ranked = {});

} // namespace millrace::tools

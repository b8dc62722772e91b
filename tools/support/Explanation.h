// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.h - --explain-sharding ---------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace millrace::tools {

/// Writes how every value of `module` is sharded and why to the file `output` (a page if it ends in .html; printed if empty). `input` is the
/// program's name. Returns the tool's exit status.
int writeExplanation(mlir::ModuleOp module, const std::string &input, const std::string &output);

} // namespace millrace::tools

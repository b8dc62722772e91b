// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConstantFlag.h - The flag --constant -------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace millrace::tools {

/// Marks arguments of the function `entry` as constant (millrace.constant). `which` is `all`, or numbers and ranges, `1,3-5`; empty for none. The
/// error says what is wrong with it. Donated arguments, which executions change, are not among `all`.
llvm::Error markConstants(mlir::ModuleOp module, const std::string &entry, const std::string &which);

} // namespace millrace::tools

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Kernel fusion -------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::fusion {

/// Unit attribute of a function that becomes machine code.
inline constexpr llvm::StringLiteral kKernelAttr = "millrace.kernel";

#define GEN_PASS_DECL
#include "passes/fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/fusion/Passes.h.inc"

} // namespace millrace::fusion

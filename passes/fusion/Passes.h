// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Kernel fusion -------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::fusion {

/// Unit attribute of a function that becomes machine code.
inline constexpr llvm::StringLiteral kKernelAttr = "millrace.kernel";

/// On a kernel: array of [operand, result] pairs; the kernel updates the operand's buffer and leaves the result in it.
inline constexpr llvm::StringLiteral kInPlaceAttr = "millrace.in_place";

/// The pairs of kInPlaceAttr.
llvm::SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(mlir::func::FuncOp kernel);

#define GEN_PASS_DECL
#include "passes/fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/fusion/Passes.h.inc"

} // namespace millrace::fusion

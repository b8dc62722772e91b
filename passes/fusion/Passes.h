// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Kernel fusion -------------------------------------------===//
#pragma once

#include "dialects/millrace/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace millrace::fusion {

/// The pairs of kInPlaceAttr.
llvm::SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(mlir::func::FuncOp kernel);

#define GEN_PASS_DECL
#include "passes/fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/fusion/Passes.h.inc"

/// Returns true if code generation has an emitter for the function (stablehlo on tensors), which is in no module and is not changed. Null: always
/// true.
using KernelCheck = std::function<bool(mlir::func::FuncOp)>;

/// The pass with a check for kernels of attention: without an emitter of their own they would be slow. Operations of those that do not pass
/// are fused like all others.
std::unique_ptr<mlir::Pass> createFuseAttentionPass(KernelCheck isAttention);

/// Columns of the panels in which code generation reads the right factor of a product of `rows` x `columns`; 0 if it prefers rows.
using PanelWidth = std::function<int64_t(int64_t rows, int64_t columns, mlir::Type element)>;

/// The pass that asks code generation; without its answer it does nothing.
std::unique_ptr<mlir::Pass> createPackLoopWeightsPass(PanelWidth panelWidth);

} // namespace millrace::fusion

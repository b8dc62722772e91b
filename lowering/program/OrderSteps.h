// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderSteps.h - Reorder steps to reduce memory -----------------------===//
#pragma once

#include "dialects/millrace/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace millrace::lowering {

/// The entries of a program's metadata that hold these numbers of the entry function.
inline constexpr char kGivenLiveBytesKey[] = "live bytes as written", kLeastLiveBytesKey[] = "live bytes at least";

/// Returns for each result of the function the donated argument whose memory it takes, or null; nothing for private functions.
llvm::SmallVector<mlir::BlockArgument> replacedArguments(mlir::func::FuncOp function);

/// Reorders the operations of every block as StepOrder.h finds best.
std::unique_ptr<mlir::Pass> createOrderStepsPass();
void registerOrderStepsPass();

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.h - A cluster as a function --------------------------------===//
#pragma once

#include "passes/fusion/FusionPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace millrace::fusion {

/// A cluster's operations as a kernel, and what of the block it reads and makes.
struct OutlinedKernel {
  mlir::func::FuncOp function; ///< belongs to nobody yet
  llvm::SmallVector<mlir::Value> inputs, outputs;
};

/// Copies the cluster, and what each kernel has for itself (splat constants, iota), into a function. Changes nothing in the block.
OutlinedKernel outlineCluster(const Cluster &cluster, llvm::StringRef name);

/// The operation is a member or in a region of one.
bool isInside(mlir::Operation *op, const llvm::SetVector<mlir::Operation *> &members);

} // namespace millrace::fusion

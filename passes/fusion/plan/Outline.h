// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.h - Clusters as functions ----------------------------------===//
#pragma once

#include "passes/fusion/plan/FusionPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/ArrayRef.h"

namespace millrace::fusion {

/// A cluster's operations as a kernel, and what of the block it reads and makes.
struct OutlinedKernel {
  mlir::func::FuncOp function; ///< not in a module yet
  llvm::SmallVector<mlir::Value> inputs, outputs;
};

/// Copies the cluster, and what each kernel has for itself (splat constants, iota), into a function. Changes nothing in the block.
OutlinedKernel outlineCluster(const Cluster &cluster, llvm::StringRef name);

/// Moves clusters into kernels: functions of a module, with names of its own, called where the cluster's root stood.
class KernelOutliner {
public:
  explicit KernelOutliner(mlir::ModuleOp module) : symbols(module) {}

  /// Outlines the clusters of one block, in the order of their roots.
  void outline(llvm::ArrayRef<Cluster> clusters);

private:
  void outline(const Cluster &cluster);

  mlir::SymbolTable symbols;
};

} // namespace millrace::fusion

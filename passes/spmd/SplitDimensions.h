// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitDimensions.h - Rewrite operations on split dimensions ------------===//
#pragma once

#include "passes/sharding/rules/Rule.h"

#include "mlir/IR/Builders.h"

namespace millrace::spmd {

/// For each dimension the sizes that it is split into, major to minor; its own size if it is not split.
using SplitSizes = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// Returns the shape whose dimensions are all these sizes.
llvm::SmallVector<int64_t> splitShape(const SplitSizes &parts);

/// Returns true if no sharding is annotated on the operation's results and no attribute names one of their dimensions (quantization per axis).
bool namesNoSharding(mlir::Operation *op);

/// Returns the elements of `value` in splitShape(parts). Reuses an operation instead of creating a reshape where that is as good.
mlir::Value reshapeToSplitSizes(mlir::OpBuilder &builder, mlir::Value value, const SplitSizes &parts);

/// Returns true if the operation can be rewritten with the factor's dimensions divided.
bool canSplitDimensions(mlir::Operation *op, const sharding::Rule &rule, int factor);

/// Returns a clone of the operation, inserted before it, whose operands and results have split dimensions. `parts` has the sizes for each factor of
/// the rule, and is empty for factors that are not split; canSplitDimensions() must hold for the others.
mlir::Operation *cloneWithSplitDimensions(mlir::Operation *op, const sharding::Rule &rule, llvm::ArrayRef<llvm::SmallVector<int64_t>> parts);

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DimensionParts.h - Operations on dimensions in parts -----------------===//
#pragma once

#include "passes/sharding/rules/Rule.h"

#include "mlir/IR/Builders.h"

namespace millrace::spmd {

/// Of every dimension the sizes of its parts, major to minor; its own size where it stays one.
using DimensionParts = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// The shape of all parts.
llvm::SmallVector<int64_t> shapeOfParts(const DimensionParts &parts);

/// Nothing is said about the sharding of the operation's results, nor about one of their dimensions by name (quantization per axis).
bool isSilent(mlir::Operation *op);

/// The same elements in the shape of these parts; without a new operation, or with an equal one, where that is as good.
mlir::Value inParts(mlir::OpBuilder &builder, mlir::Value value, const DimensionParts &parts);

/// Returns true if the operation can be rewritten with the factor's dimensions divided.
bool canBeInParts(mlir::Operation *op, const sharding::Rule &rule, int factor);

/// The operation, in front of it, with operands and results whose dimensions are in parts. `parts`: of every factor of the rule, empty for
/// those that stay; others must be possible.
mlir::Operation *cloneInParts(mlir::Operation *op, const sharding::Rule &rule, llvm::ArrayRef<llvm::SmallVector<int64_t>> parts);

} // namespace millrace::spmd

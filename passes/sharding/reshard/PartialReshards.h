// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartialReshards.h - Reshards that are explicit in every program ----===//
#pragma once

#include "dialects/sdy/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace millrace::sharding {

using ShardingOf = llvm::function_ref<sdy::TensorShardingAttr(mlir::Value)>;

/// Axes along which the operand is unreduced, and the results are not.
llvm::SmallVector<sdy::AxisRefAttr> axesToReduce(mlir::OpOperand &operand, ShardingOf shardingOf);

/// An operand that is unreduced along axes along which the results are not gets an sdy.all_reduce of its own.
void reduceOperands(mlir::Operation *op, ShardingOf shardingOf);

/// A product whose result is split along a dimension by the axes of the contraction, where the operands split that dimension
/// otherwise: the result is made as the operands are split, and resharded. Not if the result is larger than those operands.
void moveProduct(mlir::Operation *op, ShardingOf shardingOf);

} // namespace millrace::sharding

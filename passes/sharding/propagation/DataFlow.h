// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataFlow.h - How values flow into and out of regions ---------------===//
// An edge connects sources and targets that must be sharded alike: the initial values of a loop and the values that its body returns with the loop's
// results and the arguments of its regions. One target, the owner, represents all; sdy.data_flow_edge is its only user and has the sharding.
#pragma once

#include "dialects/sdy/Ops.h"

namespace millrace::sharding {

/// Owners of the operation's edges: results, or arguments of its region. Empty for operations without edges.
llvm::SmallVector<mlir::Value> edgeOwners(mlir::Operation *op);

/// The owner of the edge that `target` belongs to; null if it is no target.
mlir::Value edgeOwner(mlir::Value target);

/// Owner of the edge that the use is a source of; null if it is none.
mlir::Value edgeOwner(mlir::OpOperand &source);

/// All sources of an owner's edge.
llvm::SmallVector<mlir::OpOperand *> edgeSources(mlir::Value owner);

/// Targets besides the owner.
llvm::SmallVector<mlir::Value> otherTargets(mlir::Value owner);

/// The operation that says how an owner's edge is sharded; null before they have been added.
sdy::DataFlowEdgeOp edgeOp(mlir::Value owner);

/// How a value is sharded inside of a manual computation: what manual axes have cut is not there anymore.
sdy::TensorShardingAttr withoutManual(sdy::ManualComputationOp op, sdy::TensorShardingAttr sharding);

/// The sharding of any value; of a region's argument what its owner says. Null: whole.
sdy::TensorShardingAttr shardingInRegion(mlir::Value value);

} // namespace millrace::sharding

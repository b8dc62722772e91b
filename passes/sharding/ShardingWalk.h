// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardingWalk.h - All shardings of a module, one by one -------------===//
#pragma once

#include "dialects/sdy/Ops.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace millrace::sharding {

using TransformSharding = llvm::function_ref<sdy::TensorShardingAttr(sdy::TensorShardingAttr, mlir::Operation *user)>;

/// Replaces every sharding in `root`: of functions' arguments and results, of operations, and those that sdy operations hold.
void transformShardings(mlir::Operation *root, TransformSharding transform);

/// The same axes of another mesh.
sdy::TensorShardingAttr withMesh(sdy::TensorShardingAttr sharding, mlir::Attribute meshOrRef);
sdy::TensorShardingAttr withDims(sdy::TensorShardingAttr sharding, llvm::ArrayRef<sdy::DimensionShardingAttr> dims);
/// `replicated` is brought into mesh order.
sdy::TensorShardingAttr withReplicated(sdy::TensorShardingAttr sharding, llvm::ArrayRef<sdy::AxisRefAttr> replicated,
                                       sdy::MeshAttr mesh);

/// The mesh of a manual computation's shardings; null if it has none.
sdy::MeshAttr meshOf(sdy::ManualComputationOp op);

} // namespace millrace::sharding

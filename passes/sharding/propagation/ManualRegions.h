// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ManualRegions.h - Find manual regions between shape conversions -----===//
// GSPMD has no manual computations, only operations between @SPMDFullToShardShape and @SPMDShardToFullShape, whose shapes are those of shards.
#pragma once

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace millrace::sharding {

/// How the strings around a manual region read over the module's mesh.
struct ManualStrings {
  /// Of a call of @Sharding or @SPMDShardToFullShape: the sharding of its result. Null if it has none that can be said.
  llvm::function_ref<sdy::TensorShardingAttr(stablehlo::CustomCallOp)> sharding;
  /// The axes that its string calls manual.
  llvm::function_ref<llvm::SmallVector<mlir::StringAttr>(stablehlo::CustomCallOp)> manualAxes;
  /// A value that the region uses without changing its shape: every device has all of it.
  llvm::function_ref<sdy::TensorShardingAttr(mlir::Type)> whole;
  sdy::MeshAttr mesh;
};

/// Puts every such group of operations in `module` into an sdy.manual_computation, inner ones first. Fails, with part of the work
/// done, if a group is no region: a local value is returned, or what comes out goes in again.
mlir::LogicalResult makeManualComputations(mlir::ModuleOp module, const ManualStrings &strings);

} // namespace millrace::sharding

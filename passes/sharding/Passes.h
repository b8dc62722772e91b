// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Sharding propagation, before and after ------------------===//
#pragma once

#include "passes/sharding/propagation/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace millrace::sharding {

#define GEN_PASS_DECL
#include "passes/sharding/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/sharding/Passes.h.inc"

struct PipelineOptions {
  /// Also sdy-insert-explicit-reshards: what a partitioner that reads sdy.all_reduce needs, or every change of sharding.
  enum class Reshards { None, Needed, All } reshards = Reshards::None;
  /// Also sdy-reshard-to-collectives, after sdy-split-resharding-dimensions.
  bool collectives = false, splitDimensions = true;
  /// Also sdy-remove-all-gather-reduce-scatter-for-cmv1 then.
  bool leaveProducts = false;
  /// As in sdy-insert-explicit-reshards.
  bool markPartial = false, avoidCalls = false;
  /// Debug information of propagation is dropped.
  bool dropDebugInfo = false;
  /// Inputs and outputs keep only axes that divide them.
  bool evenInputsAndOutputs = true;
  /// Inputs and outputs keep only whole axes.
  bool wholeAxes = false;
  bool constraintsToReshards = true;
  /// Also those that users wrote.
  bool dropRules = true;
};

/// Propagates the shardings of a module that has been imported.
llvm::LogicalResult propagateShardings(mlir::ModuleOp module, const PropagationOptions &options);

/// Prepares a module for propagation: one name per mesh, constants for every use, edges for values of regions, constraints on
/// what they constrain.
void addImportPipeline(mlir::OpPassManager &pm);
/// Undoes it; shardings are closed.
void addExportPipeline(mlir::OpPassManager &pm, const PipelineOptions &options = {});
/// Import, propagation by user priority, export.
void addPropagationPipeline(mlir::OpPassManager &pm, const PipelineOptions &options = {},
                            const UserPriorityPropagationPassOptions &propagation = {});

/// The pipelines by name: sdy-import-pipeline, sdy-propagation-pipeline, sdy-export-pipeline.
void registerShardingPipelines();

} // namespace millrace::sharding

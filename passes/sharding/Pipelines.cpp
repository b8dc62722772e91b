// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - Which pass comes when, and why ---------------------===//
#include "passes/sharding/Passes.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace millrace::sharding {

void addImportPipeline(OpPassManager &pm) {
  pm.addPass(createSymbolDCEPass());
  // One name per mesh first: propagation compares meshes, and every pass below looks them up by name.
  pm.addPass(createLiftInlinedMeshesPass());
  pm.addPass(createRemoveSizeOneAxesPass());
  // Edges go around named computations as around any other region.
  pm.addPass(createImportFuncCallsPass());
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarSplitterPass());
  pm.addPass(createSymbolDCEPass());
  // Before edges take the shardings of manual computations over.
  pm.addPass(createManualAxesCleanupPass());
  pm.addNestedPass<func::FuncOp>(createAddDataFlowEdgesPass());
  // After edges: a value that an edge stands for is the edge's to shard.
  pm.addNestedPass<func::FuncOp>(createApplyShardingConstraintsPass());
  // After constraints: members of a group may have got different shardings.
  pm.addPass(createShardingGroupImportPass());
}

void addExportPipeline(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  pm.addPass(createRemoveShardingGroupsPass());
  pm.addNestedPass<func::FuncOp>(createShardingConstraintToReshardPass());
  pm.addNestedPass<func::FuncOp>(createSinkDataFlowEdgesPass());
  if (options.evenInputsAndOutputs)
    pm.addNestedPass<func::FuncOp>(createUpdateNonDivisibleInputOutputShardingsPass());
  pm.addPass(createCloseShardingsPass());
  if (options.explicitReshards)
    pm.addNestedPass<func::FuncOp>(createInsertExplicitReshardsPass());
  if (options.dropRules)
    pm.addNestedPass<func::FuncOp>(createDropShardingRulesPass());
  pm.addPass(createExportNamedComputationsPass());
}

void addPropagationPipeline(OpPassManager &pm, const PipelineOptions &options) {
  addImportPipeline(pm);
  pm.addPass(createUserPriorityPropagationPass());
  addExportPipeline(pm, options);
}

void registerShardingPipelines() {
  PassPipelineRegistration<>("sdy-import-pipeline", "Prepare a module for sharding propagation", addImportPipeline);
  PassPipelineRegistration<>("sdy-export-pipeline", "Undo what sharding propagation needed",
                             [](OpPassManager &pm) { addExportPipeline(pm); });
  PassPipelineRegistration<>("sdy-propagation-pipeline", "Propagate shardings through a module",
                             [](OpPassManager &pm) { addPropagationPipeline(pm); });
}

} // namespace millrace::sharding

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
  pm.addPass(createAddDataFlowEdgesPass());
  // After edges: a value that an edge stands for is the edge's to shard.
  pm.addNestedPass<func::FuncOp>(createApplyShardingConstraintsPass());
  // After constraints: members of a group may have got different shardings.
  pm.addPass(createShardingGroupImportPass());
}

void addExportPipeline(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  pm.addPass(createRemoveShardingGroupsPass());
  if (options.constraintsToReshards)
    pm.addNestedPass<func::FuncOp>(createShardingConstraintToReshardPass());
  pm.addNestedPass<func::FuncOp>(createSinkDataFlowEdgesPass());
  if (options.evenInputsAndOutputs)
    pm.addNestedPass<func::FuncOp>(createUpdateNonDivisibleInputOutputShardingsPass());
  if (options.wholeAxes)
    pm.addNestedPass<func::FuncOp>(createRemoveSubAxesInInputOutputShardingsPass());
  pm.addPass(createCloseShardingsPass());
  if (options.reshards != PipelineOptions::Reshards::None)
    pm.addNestedPass<func::FuncOp>(
        createInsertExplicitReshardsPass({.everywhere = options.reshards == PipelineOptions::Reshards::All}));
  if (options.collectives)
    pm.addNestedPass<func::FuncOp>(createReshardToCollectivesPass());
  if (options.dropRules)
    pm.addNestedPass<func::FuncOp>(createDropShardingRulesPass());
  pm.addPass(createExportNamedComputationsPass());
}

void addPropagationPipeline(OpPassManager &pm, const PipelineOptions &options,
                            const UserPriorityPropagationPassOptions &propagation) {
  addImportPipeline(pm);
  pm.addPass(createUserPriorityPropagationPass(propagation));
  addExportPipeline(pm, options);
}

namespace {

/// Upstream's options. Of those about calls nothing follows here: every call becomes a computation of its own, and functions
/// come back one per call.
struct ImportFlags : PassPipelineOptions<ImportFlags> {
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("calls are apart here: no effect"), llvm::cl::init(false)};
  Option<bool> nonFlat{*this, "enable-native-non-flat-support", llvm::cl::desc("calls are apart here: no effect"),
                       llvm::cl::init(false)};
  Option<bool> late{*this, "enable-late-inlining", llvm::cl::desc("nothing is inlined here: no effect"), llvm::cl::init(true)};
};

struct ExportFlags : PassPipelineOptions<ExportFlags> {
  Option<bool> collectives{*this, "enable-insert-explicit-collectives",
                           llvm::cl::desc("make every change of sharding an sdy collective"), llvm::cl::init(false)};
  Option<bool> subAxes{*this, "remove-sub-axes-in-input-output-shardings",
                       llvm::cl::desc("inputs and outputs are split by whole axes"), llvm::cl::init(false)};
  Option<bool> keepConstraints{*this, "skip-convert-to-reshard", llvm::cl::desc("constraints stay"), llvm::cl::init(false)};
  Option<bool> keepRules{*this, "keep-sharding-rules", llvm::cl::desc("rules stay on operations"), llvm::cl::init(false)};
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("calls are apart here: no effect"), llvm::cl::init(false)};

  PipelineOptions get() const {
    PipelineOptions options;
    options.reshards = collectives ? PipelineOptions::Reshards::All : PipelineOptions::Reshards::Needed;
    options.collectives = collectives;
    options.wholeAxes = subAxes;
    options.constraintsToReshards = !keepConstraints;
    options.dropRules = !keepRules;
    return options;
  }
};

struct PropagationFlags : ExportFlags {
  Option<bool> conservative{*this, "conservative-propagation", llvm::cl::desc("as in sdy-user-priority-propagate"),
                            llvm::cl::init(false)};
  Option<bool> origins{*this, "debug-sharding-origins", llvm::cl::desc("as in sdy-user-priority-propagate"), llvm::cl::init(false)};
  Option<bool> edges{*this, "debug-edge-source-sharding", llvm::cl::desc("as in sdy-user-priority-propagate"),
                     llvm::cl::init(false)};
  Option<bool> newerEdges{*this, "debug-propagation-edge-sharding", llvm::cl::desc("as in sdy-user-priority-propagate"),
                          llvm::cl::init(false)};
  Option<bool> nonFlat{*this, "enable-native-non-flat-support", llvm::cl::desc("calls are apart here: no effect"),
                       llvm::cl::init(false)};
  Option<bool> late{*this, "enable-late-inlining", llvm::cl::desc("nothing is inlined here: no effect"), llvm::cl::init(true)};
  Option<std::string> dump{*this, "module-dump-directory", llvm::cl::desc("as in sdy-user-priority-propagate")};
};

} // namespace

void registerShardingPipelines() {
  PassPipelineRegistration<ImportFlags>("sdy-import-pipeline", "Prepare a module for sharding propagation",
                                        [](OpPassManager &pm, const ImportFlags &) { addImportPipeline(pm); });
  PassPipelineRegistration<ExportFlags>(
      "sdy-export-pipeline", "Undo what sharding propagation needed",
      [](OpPassManager &pm, const ExportFlags &flags) { addExportPipeline(pm, flags.get()); });
  PassPipelineRegistration<PropagationFlags>(
      "sdy-propagation-pipeline", "Propagate shardings through a module", [](OpPassManager &pm, const PropagationFlags &flags) {
        UserPriorityPropagationPassOptions propagation;
        propagation.keepShardingRules = flags.keepRules;
        propagation.conservative = flags.conservative;
        propagation.debugShardingOrigins = flags.origins;
        propagation.debugEdgeSourceSharding = flags.edges || flags.newerEdges;
        propagation.dumpDirectory = flags.dump;
        addPropagationPipeline(pm, flags.get(), propagation);
      });
}

} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - Which pass comes when, and why ---------------------===//
#include "passes/calls/Passes.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace millrace::sharding {

namespace {

/// Where the module is written to between passes; each file has a number, so that they sort as they came.
struct Dump {
  std::string directory;
  int number = 0;

  void add(OpPassManager &pm, StringRef what) {
    if (!directory.empty())
      pm.addPass(createSaveModulePass({directory, ("sdy_module_" + Twine(number++) + "_" + what).str()}));
  }
};

void addImport(OpPassManager &pm, Dump &dump, bool inlineAll = false) {
  if (inlineAll) {
    calls::InlineCallsPassOptions all;
    all.keepFrom = ~0u;
    pm.addPass(calls::createInlineCallsPass(all));
  }
  pm.addPass(createSymbolDCEPass());
  // One name per mesh first: propagation compares meshes, and every pass below looks them up by name.
  pm.addPass(createLiftInlinedMeshesPass());
  pm.addPass(createRemoveSizeOneAxesPass());
  // Edges go around named computations as around any other region, below.
  pm.addPass(createImportFuncCallsPass({.dataFlowEdges = false}));
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarSplitterPass());
  pm.addPass(createSymbolDCEPass());
  // Before edges take the shardings of manual computations over.
  pm.addPass(createManualAxesCleanupPass());
  // The user's program, tidied; what follows is for propagation only.
  dump.add(pm, "before_propagation");
  pm.addPass(createAddDataFlowEdgesPass());
  // After edges: a value that an edge stands for is the edge's to shard.
  pm.addNestedPass<func::FuncOp>(createApplyShardingConstraintsPass());
  // After constraints: members of a group may have got different shardings.
  pm.addPass(createShardingGroupImportPass());
}

void addExport(OpPassManager &pm, const PipelineOptions &options, Dump &dump, bool oneFunctionPerName = false) {
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
  dump.add(pm, "after_propagation");
  if (options.reshards != PipelineOptions::Reshards::None) {
    bool everywhere = options.reshards == PipelineOptions::Reshards::All;
    pm.addNestedPass<func::FuncOp>(createInsertExplicitReshardsPass({.everywhere = everywhere}));
    dump.add(pm, everywhere ? "after_explicit_reshards" : "after_post_propagation_optimizations");
  }
  if (options.collectives) {
    pm.addNestedPass<func::FuncOp>(createReshardToCollectivesPass());
    dump.add(pm, "after_reshard_to_collectives");
  }
  // Behind everything that reduces on purpose.
  if (options.reshards != PipelineOptions::Reshards::None)
    pm.addNestedPass<func::FuncOp>(createVerifyUnreducedAxesPass());
  if (options.dropRules)
    pm.addNestedPass<func::FuncOp>(createDropShardingRulesPass());
  pm.addPass(createExportNamedComputationsPass({.dedupFunctionsFully = oneFunctionPerName}));
}

} // namespace

void addImportPipeline(OpPassManager &pm) {
  Dump none;
  addImport(pm, none);
}

void addExportPipeline(OpPassManager &pm, const PipelineOptions &options) {
  Dump none;
  addExport(pm, options, none);
}

void addPropagationPipeline(OpPassManager &pm, const PipelineOptions &options,
                            const UserPriorityPropagationPassOptions &propagation) {
  addImportPipeline(pm);
  pm.addPass(createUserPriorityPropagationPass(propagation));
  addExportPipeline(pm, options);
}

namespace {

/// Upstream's options. While shardings propagate every call is a computation of its own; what becomes of them is said at export.
struct ImportFlags : PassPipelineOptions<ImportFlags> {
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("for sdy-export-pipeline; nothing is merged here"), llvm::cl::init(false)};
  Option<bool> nonFlat{*this, "enable-native-non-flat-support", llvm::cl::desc("for sdy-propagation-pipeline; nothing is merged here"),
                       llvm::cl::init(false)};
  Option<bool> late{*this, "enable-late-inlining", llvm::cl::desc("calls stay calls; otherwise all are inlined"), llvm::cl::init(true)};
  Option<std::string> dump{*this, "module-dump-directory", llvm::cl::desc("write the module to this folder on the way")};
};

struct ExportFlags : PassPipelineOptions<ExportFlags> {
  Option<std::string> dump{*this, "module-dump-directory", llvm::cl::desc("write the module to this folder on the way")};
  Option<bool> collectives{*this, "enable-insert-explicit-collectives",
                           llvm::cl::desc("make every change of sharding an sdy collective"), llvm::cl::init(false)};
  Option<bool> subAxes{*this, "remove-sub-axes-in-input-output-shardings",
                       llvm::cl::desc("inputs and outputs are split by whole axes"), llvm::cl::init(false)};
  Option<bool> keepConstraints{*this, "skip-convert-to-reshard", llvm::cl::desc("constraints stay"), llvm::cl::init(false)};
  Option<bool> keepRules{*this, "keep-sharding-rules", llvm::cl::desc("rules stay on operations"), llvm::cl::init(false)};
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("as in sdy-export-named-computations"), llvm::cl::init(false)};

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
  Option<bool> nonFlat{*this, "enable-native-non-flat-support",
                       llvm::cl::desc("a function stays one for all its calls, as with dedup-functions-fully"), llvm::cl::init(false)};
  Option<bool> late{*this, "enable-late-inlining", llvm::cl::desc("calls stay calls; otherwise all are inlined"), llvm::cl::init(true)};
};

} // namespace

void registerShardingPipelines() {
  PassPipelineRegistration<ImportFlags>("sdy-import-pipeline", "Prepare a module for sharding propagation",
                                        [](OpPassManager &pm, const ImportFlags &flags) {
                                          Dump dump{flags.dump};
                                          addImport(pm, dump, !flags.late);
                                        });
  PassPipelineRegistration<ExportFlags>("sdy-export-pipeline", "Undo what sharding propagation needed",
                                        [](OpPassManager &pm, const ExportFlags &flags) {
                                          Dump dump{flags.dump};
                                          addExport(pm, flags.get(), dump, flags.dedup);
                                        });
  PassPipelineRegistration<PropagationFlags>(
      "sdy-propagation-pipeline", "Propagate shardings through a module", [](OpPassManager &pm, const PropagationFlags &flags) {
        UserPriorityPropagationPassOptions propagation;
        propagation.keepShardingRules = flags.keepRules;
        propagation.conservative = flags.conservative;
        propagation.debugShardingOrigins = flags.origins;
        propagation.debugEdgeSourceSharding = flags.edges || flags.newerEdges;
        Dump dump{flags.dump};
        addImport(pm, dump, !flags.late);
        pm.addPass(createUserPriorityPropagationPass(propagation));
        addExport(pm, flags.get(), dump, flags.dedup || flags.nonFlat);
      });
}

} // namespace millrace::sharding

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

/// The folder to which the module is written between passes; each file name begins with a number, so that the files sort in order.
struct Dump {
  std::string directory;
  int number = 0;

  void add(OpPassManager &pm, StringRef what) {
    if (!directory.empty())
      pm.addPass(createSaveModulePass({directory, ("sdy_module_" + Twine(number++) + "_" + what).str()}));
  }
};

void addImport(OpPassManager &pm, Dump &dump, bool inlineAll = false, const ApplyShardingConstraintsPassOptions &constraints = {}) {
  if (inlineAll) {
    // Functions that nobody calls are erased first, because inlining copies their calls' bodies.
    pm.addPass(createSymbolDCEPass());
    calls::InlineCallsPassOptions all;
    all.keepFrom = ~0u;
    pm.addPass(calls::createInlineCallsPass(all));
  }
  pm.addPass(createSymbolDCEPass());
  // Meshes get one name each first: propagation compares meshes, and every pass below looks them up by name.
  pm.addPass(createLiftInlinedMeshesPass());
  pm.addPass(createRemoveSizeOneAxesPass());
  // Edges around named computations are added below, as around any other region.
  pm.addPass(createImportFuncCallsPass({.dataFlowEdges = false}));
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarSplitterPass());
  pm.addPass(createSymbolDCEPass());
  // This comes before edges take over the shardings of manual computations.
  pm.addPass(createManualAxesCleanupPass());
  // The module is still the user's program here, canonicalized; the passes below only prepare propagation.
  dump.add(pm, "before_propagation");
  pm.addPass(createAddDataFlowEdgesPass());
  // This comes after edges, because an edge shards the value that it represents.
  pm.addPass(createApplyShardingConstraintsPass(constraints));
  // This comes after constraints, which may have given members of a group different shardings.
  pm.addPass(createShardingGroupImportPass());
}

void addExport(OpPassManager &pm, const PipelineOptions &options, Dump &dump, bool oneFunctionPerName = false) {
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  if (options.constraintsToReshards || options.reshards != PipelineOptions::Reshards::None)
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
    pm.addNestedPass<func::FuncOp>(createInsertExplicitReshardsPass(
        {.everywhere = everywhere, .markPartial = options.markPartial, .avoidCalls = options.avoidCalls}));
    dump.add(pm, everywhere ? "after_explicit_reshards" : "after_post_propagation_optimizations");
    // Consecutive reshards are merged before either becomes collectives.
    pm.addNestedPass<func::FuncOp>(createOptimizeCollectivesPass({.reshards = options.collectives}));
  }
  if (options.collectives) {
    if (options.splitDimensions)
      pm.addNestedPass<func::FuncOp>(createSplitReshardingDimensionsPass());
    pm.addNestedPass<func::FuncOp>(createReshardToCollectivesPass());
    // An earlier all_reduce and a slice of this pass become one reduce_scatter.
    pm.addNestedPass<func::FuncOp>(createOptimizeCollectivesPass());
    if (options.leaveProducts)
      pm.addNestedPass<func::FuncOp>(createRemoveAllGatherReduceScatterForCMV1Pass());
    dump.add(pm, "after_reshard_to_collectives");
  }
  // This comes after all passes that insert reductions.
  if (options.reshards != PipelineOptions::Reshards::None)
    pm.addNestedPass<func::FuncOp>(createVerifyUnreducedAxesPass());
  if (options.dropDebugInfo)
    pm.addPass(createRemovePropagationDebugInfoPass());
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

/// Upstream's options. Every call is a computation of its own while shardings propagate; the export options decide what becomes of them.
struct ImportFlags : PassPipelineOptions<ImportFlags> {
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("for sdy-export-pipeline; nothing is merged here"), llvm::cl::init(false)};
  Option<bool> nonFlat{*this, "enable-native-non-flat-support", llvm::cl::desc("for sdy-propagation-pipeline; nothing is merged here"),
                       llvm::cl::init(false)};
  Option<bool> late{*this, "enable-late-inlining", llvm::cl::desc("calls stay calls; otherwise all are inlined"), llvm::cl::init(true)};
  Option<std::string> dump{*this, "module-dump-directory", llvm::cl::desc("write the module to this folder on the way")};
};

struct ExportFlags : PassPipelineOptions<ExportFlags> {
  Option<std::string> dump{*this, "module-dump-directory", llvm::cl::desc("write the module to this folder on the way")};
  Option<std::string> newerDump{*this, "dump-directory", llvm::cl::desc("module-dump-directory under its newer name")};
  Option<bool> collectives{*this, "enable-insert-explicit-collectives",
                           llvm::cl::desc("make every change of sharding an sdy collective"), llvm::cl::init(false)};
  Option<bool> subAxes{*this, "remove-sub-axes-in-input-output-shardings",
                       llvm::cl::desc("inputs and outputs are split by whole axes"), llvm::cl::init(false)};
  Option<bool> keepConstraints{*this, "skip-convert-to-reshard", llvm::cl::desc("constraints stay"), llvm::cl::init(false)};
  Option<bool> keepAll{*this, "avoid-export-for-partitioning", llvm::cl::desc("constraints and groups stay, no reshards: may be propagated again"),
                       llvm::cl::init(false)};
  Option<bool> evenSignatures{*this, "update-non-divisible-input-output-shardings",
                              llvm::cl::desc("inputs and outputs keep only axes that divide them"), llvm::cl::init(true)};
  Option<bool> markPartial{*this, "mark-partial-result-with-unreduced-axes", llvm::cl::desc("as in sdy-insert-explicit-reshards"),
                           llvm::cl::init(false)};
  Option<bool> avoidCalls{*this, "avoid-reshards-on-calls", llvm::cl::desc("as in sdy-insert-explicit-reshards"), llvm::cl::init(false)};
  Option<bool> oneByOne{*this, "disable-split-resharding-dimensions", llvm::cl::desc("without sdy-split-resharding-dimensions"),
                        llvm::cl::init(false)};
  Option<bool> leaveProducts{*this, "remove-all-gather-reduce-scatter-for-cmv1",
                             llvm::cl::desc("also sdy-remove-all-gather-reduce-scatter-for-cmv1"), llvm::cl::init(false)};
  Option<bool> dumpOrigins{*this, "dump-sharding-origins", llvm::cl::desc("in dumped modules, where axes come from; not in the result"),
                           llvm::cl::init(false)};
  Option<bool> dumpEdges{*this, "dump-propagation-edges", llvm::cl::desc("in dumped modules, through what axes came; not in the result"),
                         llvm::cl::init(false)};
  Option<bool> keepRules{*this, "keep-sharding-rules", llvm::cl::desc("rules stay on operations"), llvm::cl::init(false)};
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("as in sdy-export-named-computations"), llvm::cl::init(false)};

  PipelineOptions get() const {
    PipelineOptions options;
    if (!keepAll)
      options.reshards = collectives ? PipelineOptions::Reshards::All : PipelineOptions::Reshards::Needed;
    options.collectives = collectives && !keepAll;
    options.markPartial = markPartial;
    options.avoidCalls = avoidCalls;
    options.splitDimensions = !oneByOne;
    options.leaveProducts = leaveProducts;
    options.evenInputsAndOutputs = evenSignatures;
    options.wholeAxes = subAxes;
    options.constraintsToReshards = !keepConstraints && !keepAll;
    options.dropDebugInfo = dumpOrigins || dumpEdges;
    options.dropRules = !keepRules;
    return options;
  }
  std::string dumpTo() const { return dump.empty() ? newerDump : dump; }
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
  // Shardy's older names.
  PassPipelineRegistration<>("sdy-constant-merger", "sdy-constant-or-scalar-merger under its older name", [](OpPassManager &pm) {
    pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  });
  PassPipelineRegistration<>("sdy-sharding-group-cleanup", "sdy-remove-sharding-groups under its older name",
                             [](OpPassManager &pm) { pm.addPass(createRemoveShardingGroupsPass()); });
  PassPipelineRegistration<>("sdy-group-canonicalization", "sdy-sharding-group-import under its older name",
                             [](OpPassManager &pm) { pm.addPass(createShardingGroupImportPass()); });
  PassPipelineRegistration<>("sdy-equilise-call-and-func-result-shardings", "sdy-propagate-sharding-from-func-to-call under its older name",
                             [](OpPassManager &pm) { pm.addPass(createPropagateShardingFromFuncToCallPass()); });
  PassPipelineRegistration<ImportFlags>("sdy-import-pipeline", "Prepare a module for sharding propagation",
                                        [](OpPassManager &pm, const ImportFlags &flags) {
                                          Dump dump{flags.dump};
                                          addImport(pm, dump, !flags.late);
                                        });
  PassPipelineRegistration<ExportFlags>("sdy-export-pipeline", "Undo what sharding propagation needed",
                                        [](OpPassManager &pm, const ExportFlags &flags) {
                                          Dump dump{flags.dumpTo()};
                                          addExport(pm, flags.get(), dump, flags.dedup);
                                        });
  PassPipelineRegistration<PropagationFlags>(
      "sdy-propagation-pipeline", "Propagate shardings through a module", [](OpPassManager &pm, const PropagationFlags &flags) {
        UserPriorityPropagationPassOptions propagation;
        propagation.keepShardingRules = flags.keepRules;
        propagation.conservative = flags.conservative;
        propagation.debugShardingOrigins = flags.origins;
        propagation.debugEdgeSourceSharding = flags.edges || flags.newerEdges;
        Dump dump{flags.dumpTo()};
        addImport(pm, dump, !flags.late, {.origins = flags.origins, .edges = propagation.debugEdgeSourceSharding});
        pm.addPass(createUserPriorityPropagationPass(propagation));
        addExport(pm, flags.get(), dump, flags.dedup || flags.nonFlat);
      });
}

} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTripPipelines.cpp - To HLO's form and back, in which order ----===//
#include "passes/sharding/exchange/RoundTrip.h"

#include "passes/calls/Passes.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace millrace::sharding {

void addRoundTripImport(OpPassManager &pm, const RoundTripImportOptions &options) {
  // Before anything folds: constants that a loop has inside are to stay there.
  if (options.constants)
    pm.addNestedPass<func::FuncOp>(createImportConstantsPass());
  pm.addPass(createRoundTripImportShardyAttrsPass());
  // XLA merges equal functions; every manual computation needs one of its own.
  pm.addPass(createRoundTripCloneManualComputationCallsPass());
  pm.addPass(createRoundTripShardMapImportPass());
  pm.addPass(createImportSdyCustomCallsPass());
  // After shardings are where propagation finds them.
  pm.addNestedPass<func::FuncOp>(createOpenWhileFreeVarsShardingPass());
  if (options.calls)
    pm.addPass(createImportFuncCallsPass({.onlyUninlineable = options.onlyUninlineable, .dataFlowEdges = false}));
  if (options.meshes) {
    pm.addPass(createLiftInlinedMeshesPass());
    pm.addPass(createDedupMeshesPass());
  }
}

void addStablehloExport(OpPassManager &pm, const StablehloExportOptions &options) {
  // While collectives are sdy's, and their operands say what is to be summed.
  pm.addPass(createExportManualReductionCollectivesPass({.allReduceScatter = options.allReduceScatter}));
  pm.addPass(createExportNamedComputationsPass({.dedupFunctionsFully = options.oneFunctionPerName}));
  pm.addPass(createExportOpsPass(options.operations));
  // After the operations above: inside of manual computations they are marked like all others.
  pm.addPass(createShardMapExportPass({.eraseEmpty = options.eraseManual}));
  pm.addPass(createExportShardingsPass(options.shardings));
}

namespace {

/// Of pipelines that write mhlo.sharding; those that read it understand every spelling.
constexpr char namedFlag[] = "enable-hlo-sharding-v3", namedText[] = "shardings in axes of a named mesh instead of tiles";

struct ImportFlags : PassPipelineOptions<ImportFlags> {
  Option<bool> constants{*this, "enable-constant-import", llvm::cl::desc("also xla-sdy-import-constants"), llvm::cl::init(true)};
  Option<bool> calls{*this, "import-func-calls", llvm::cl::desc("also sdy-import-func-calls"), llvm::cl::init(false)};
  Option<bool> onlyUninlineable{*this, "import-only-uninlineable-func-calls",
                                llvm::cl::desc("... of calls with the frontend attribute inlineable = \"false\""),
                                llvm::cl::init(true)};
  Option<bool> meshes{*this, "lift-and-dedup-meshes", llvm::cl::desc("also one name per mesh, and one mesh for the same devices"),
                      llvm::cl::init(false)};
  Option<bool> named{*this, namedFlag, llvm::cl::desc(namedText), llvm::cl::init(false)};
};

struct ExportFlags : PassPipelineOptions<ExportFlags> {
  Option<bool> keepMeshesInlined{*this, "keep-meshes-inlined", llvm::cl::desc("meshes inside of shardings stay there"),
                                 llvm::cl::init(false)};
  Option<bool> named{*this, namedFlag, llvm::cl::desc(namedText), llvm::cl::init(false)};
};

struct StablehloFlags : PassPipelineOptions<StablehloFlags> {
  Option<bool> named{*this, namedFlag, llvm::cl::desc(namedText), llvm::cl::init(false)};
  Option<bool> simplify{*this, "simplify-replicated-shardings", llvm::cl::desc("as in xla-sdy-stablehlo-export-shardings"), llvm::cl::init(false)};
  Option<bool> wholeReverse{*this, "clear-reverse-op-sharding", llvm::cl::desc("as in xla-sdy-stablehlo-export-shardings"), llvm::cl::init(false)};
  Option<bool> controlFlow{*this, "add-missing-sharding-to-control-flow", llvm::cl::desc("as in xla-sdy-stablehlo-export-shardings"),
                           llvm::cl::init(true)};
  Option<bool> asCalls{*this, "keep-hlo-sharding-constraints", llvm::cl::desc("as in xla-sdy-export-ops"), llvm::cl::init(true)};
  Option<bool> asCopies{*this, "export-sharding-constraints-to-mhlo-copy", llvm::cl::desc("as in xla-sdy-export-ops"), llvm::cl::init(false)};
  Option<bool> allReduceScatter{*this, "enable-reduce-scatter-export",
                                llvm::cl::desc("every sdy.reduce_scatter becomes StableHLO's, in a manual computation"), llvm::cl::init(false)};
  Option<bool> eraseManual{*this, "erase-manual-computations", llvm::cl::desc("as in xla-sdy-stablehlo-round-trip-shard-map-export"),
                           llvm::cl::init(false)};
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("as in sdy-export-named-computations"), llvm::cl::init(false)};
};

/// Of passes that XLA had before Shardy.
struct DedupFlag : PassPipelineOptions<DedupFlag> {
  Option<bool> dedup{*this, "dedup-functions-fully", llvm::cl::desc("as in Shardy's pass"), llvm::cl::init(false)};
};

struct OnlyNamed : PassPipelineOptions<OnlyNamed> {
  Option<bool> named{*this, namedFlag, llvm::cl::desc(namedText), llvm::cl::init(false)};
};

} // namespace

static void addRoundTripExport(OpPassManager &pm, bool keepMeshesInlined, bool named) {
  if (!keepMeshesInlined)
    pm.addPass(createLiftInlinedMeshesPass());
  pm.addPass(createDedupMeshesPass());
  pm.addPass(createExportNamedComputationsPass());
  pm.addPass(createRoundTripExportOpsPass());
  pm.addPass(createRoundTripShardMapExportPass());
  pm.addPass(createRoundTripExportShardyAttrsPass());
  // For those who read mhlo.sharding.
  pm.addPass(createExportShardingsPass({.named = named}));
}

void registerRoundTripPipelines() {
  PassPipelineRegistration<ImportFlags>(
      "xla-sdy-round-trip-import-pipeline", "Bring sdy back from frontend attributes and custom calls",
      [](OpPassManager &pm, const ImportFlags &flags) {
        pm.addPass(createSymbolDCEPass());
        pm.addPass(calls::createFlattenTuplesPass());
        addRoundTripImport(pm, {.constants = flags.constants, .calls = flags.calls, .onlyUninlineable = flags.onlyUninlineable,
                                .meshes = flags.meshes});
      });
  PassPipelineRegistration<ExportFlags>(
      "xla-sdy-round-trip-export-pipeline", "Write sdy into frontend attributes and custom calls, which HLO keeps",
      [](OpPassManager &pm, const ExportFlags &flags) {
        addRoundTripExport(pm, flags.keepMeshesInlined, flags.named);
      });
  PassPipelineRegistration<StablehloFlags>(
      "xla-sdy-stablehlo-export-pipeline", "Write sdy as mhlo.sharding strings, for partitioners of HLO",
      [](OpPassManager &pm, const StablehloFlags &flags) {
        StablehloExportOptions options;
        options.shardings = {.named = flags.named, .simplify = flags.simplify, .wholeReverse = flags.wholeReverse, .controlFlow = flags.controlFlow};
        options.operations = {.asCalls = flags.asCalls, .asCopies = flags.asCopies};
        options.allReduceScatter = flags.allReduceScatter;
        options.eraseManual = flags.eraseManual;
        options.oneFunctionPerName = flags.dedup;
        addStablehloExport(pm, options);
      });
  PassPipelineRegistration<>("xla-sdy-stablehlo-import-pipeline", "Read mhlo.sharding strings, and what is in frontend attributes",
                             [](OpPassManager &pm) {
                               pm.addPass(calls::createFlattenTuplesPass());
                               pm.addPass(createImportShardingsPass());
                               addRoundTripImport(pm);
                             });
  PassPipelineRegistration<>("xla-sdy-import-func-calls", "sdy-import-func-calls under XLA's name, without edges",
                             [](OpPassManager &pm) { pm.addPass(createImportFuncCallsPass({.dataFlowEdges = false})); });
  PassPipelineRegistration<>("xla-sdy-import-uninlineable-func-calls", "... of calls with the frontend attribute inlineable = \"false\"",
                             [](OpPassManager &pm) {
                               pm.addPass(createImportFuncCallsPass({.onlyUninlineable = true, .dataFlowEdges = false}));
                             });
  PassPipelineRegistration<DedupFlag>("xla-sdy-export-named-computations", "sdy-export-named-computations under XLA's name",
                                      [](OpPassManager &pm, const DedupFlag &flags) {
                                        pm.addPass(createExportNamedComputationsPass({.dedupFunctionsFully = flags.dedup}));
                                      });
  for (StringRef name : {"xla-sdy-flatten-call-graph", "xla-sdy-test-flatten-call-graph"})
    PassPipelineRegistration<>(name, "sdy-flatten-call-graph under XLA's names",
                               [](OpPassManager &pm) { pm.addPass(createFlattenCallGraphPass()); });
  PassPipelineRegistration<DedupFlag>("xla-sdy-unflatten-call-graph", "sdy-unflatten-call-graph under XLA's name",
                                      [](OpPassManager &pm, const DedupFlag &flags) {
                                        pm.addPass(createUnflattenCallGraphPass({.dedupFunctionsFully = flags.dedup}));
                                      });
  PassPipelineRegistration<OnlyNamed>("xla-sdy-round-trip-testing-pipeline",
                                      "xla-sdy-round-trip-export-pipeline and back, as if HLO were between",
                                      [](OpPassManager &pm, const OnlyNamed &flags) {
                                        addRoundTripExport(pm, /*keepMeshesInlined=*/false, flags.named);
                                        addRoundTripImport(pm);
                                      });
}

} // namespace millrace::sharding

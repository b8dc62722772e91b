// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.cpp - The passes between two stops ------------------------===//
#include "lowering/Pipeline.h"

#include "lowering/cpu/KernelChecks.h"
#include "lowering/cpu/PanelWidth.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/program/OpenRows.h"
#include "lowering/program/OrderSteps.h"
#include "lowering/program/OutlineReducers.h"
#include "passes/calls/Passes.h"
#include "passes/chlo/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/loops/Passes.h"
#include "passes/simplify/Passes.h"
#include "passes/spmd/Passes.h"
#include "passes/xla/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace millrace::lowering {

/// What it costs that one kernel of a Winograd convolution writes an element and the next one reads it. Unit: cycles per element of f32. Source:
/// xla-run --repeat=60 of 3x3 convolutions on an AMD Zen 3, 16 multiply-adds per cycle: with 9.8 saved per element 1.08 times as fast, with 10.0 1.01,
/// 14.6 1.17, 19 and more 1.47 to 1.78. On an AMD Zen 4, 16 per cycle too, with 19 saved 1.12, with 31 1.46, 28x28x128 and more 1.6 to 1.9.
static constexpr double kCyclesPerMovedElement = 0.6;

/// A convolution takes Winograd's form if it saves more multiply-adds than a core starts in the time of moving an element.
static layout::WinogradConvolutionsPassOptions winogradOptions(const CpuTarget &machine) {
  const KernelTarget target = kernelTarget(machine);
  layout::WinogradConvolutionsPassOptions options;
  options.minSaved = kCyclesPerMovedElement * target.multiplyAddsPerCycle * target.vectorBits / 32;
  options.nearBytes = target.l2Bytes;
  return options;
}

void addSimplifyPasses(OpPassManager &pm, const PipelineOptions &options) {
  if (options.xlaSemantics)
    pm.addPass(xla_semantics::createPassTokensAsTensorsPass());
  pm.addPass(calls::createFlattenTuplesPass());
  // First of all, because it makes chlo operations and sorts whose comparators call functions.
  pm.addPass(calls::createExpandCustomCallsPass());
  pm.addNestedPass<func::FuncOp>(chlo::createChloRecomposeOpsPass());
  // Composites become calls of their decompositions, and calls disappear before everything that looks at one function
  // at a time.
  pm.addPass(simplify::createStablehloLegalizeCompositeToCallPass());
  pm.addPass(calls::createInlineCallsPass());
  // From here on only operations that code generation knows: no chlo, no deprecated operations, no quantized types.
  pm.addNestedPass<func::FuncOp>(chlo::createChloLegalizeToStablehloPass());
  // Constants of sizes that are not known are made with shape operations by the pass before.
  pm.addNestedPass<func::FuncOp>(chlo::createShapeLegalizeToStablehloPass());
  pm.addNestedPass<func::FuncOp>(simplify::createStablehloLegalizeDeprecatedOpsPass());
  if (options.xlaSemantics)
    pm.addNestedPass<func::FuncOp>(xla_semantics::createDropPartialScatterWindowsPass());
  pm.addNestedPass<func::FuncOp>(simplify::createExpandBatchNormPass());
  pm.addNestedPass<func::FuncOp>(simplify::createSeedRngPass());
  pm.addPass(simplify::createStablehloLegalizeQuantToMathPass());
  pm.addNestedPass<func::FuncOp>(simplify::createRemoveEmptyTensorsPass());
  // Of loops that count between constants from the beginning the iterations are simplified and folded, too.
  pm.addNestedPass<func::FuncOp>(loops::createUnrollLoopsPass());
  pm.addNestedPass<func::FuncOp>(simplify::createSimplifyForKernelsPass());
  if (options.fold)
    pm.addNestedPass<func::FuncOp>(simplify::createStablehloAggressiveFolderPass());
  pm.addPass(simplify::createCanonicalizeProgramPass());
  pm.addPass(createCSEPass());
  // Again, now that constants are known. Unrolling first: what it leaves is worth hoisting out of.
  pm.addNestedPass<func::FuncOp>(loops::createUnrollLoopsPass());
  // After inlining, simplification and unrolling, which bring updates and the selects between them together.
  pm.addNestedPass<func::FuncOp>(loops::createNarrowSelectsPass());
  // After the selects: one between an array of zeros and its update becomes an update.
  pm.addNestedPass<func::FuncOp>(loops::createNarrowSumsPass());
  pm.addNestedPass<func::FuncOp>(loops::createHoistLoopInvariantsPass());
  pm.addPass(simplify::createCanonicalizeProgramPass());
  pm.addPass(createCSEPass());
  // After everything that brings rolls of one value together.
  pm.addNestedPass<func::FuncOp>(simplify::createShareRollsPass());
  // After everything that brings sort, iota and slices together.
  pm.addNestedPass<func::FuncOp>(calls::createSelectTopKPass());
  if (!options.genericOnly) {
    pm.addNestedPass<func::FuncOp>(calls::createCallRuntimePass());
    // Before layouts and fusion, which know real products.
    pm.addNestedPass<func::FuncOp>(simplify::createSplitComplexDotsPass());
  }
  // Before layouts: reshapes would hold them up.
  pm.addNestedPass<func::FuncOp>(layout::createMergeGroupsPass());
  // Last: simplification knows no layouts and would undo them. Several transposes of one value become one.
  pm.addNestedPass<func::FuncOp>(layout::createAssignLayoutsPass());
  // After layouts are assigned: its reshapes know one only.
  pm.addNestedPass<func::FuncOp>(layout::createSplitDilatedConvolutionsPass());
  // Before borders are copied: what completes the last tiles is copied with them.
  if (options.relaxed && !options.genericOnly)
    pm.addNestedPass<func::FuncOp>(layout::createWinogradConvolutionsPass(winogradOptions(options.target)));
  pm.addNestedPass<func::FuncOp>(layout::createPadConvolutionsPass());
  // After layouts are assigned: whether channels are last decides.
  pm.addNestedPass<func::FuncOp>(layout::createSpreadWindowsPass());
  // What layouts brought into loops: transposes of weights.
  pm.addNestedPass<func::FuncOp>(loops::createHoistLoopInvariantsPass());
  pm.addPass(createCSEPass());
  // Last, for nothing behind it moves operations within a block without regard for updates.
  pm.addNestedPass<func::FuncOp>(loops::createOrderReadsPass());
}

/// A value of at least as many bytes is computed a block of rows at a time: it goes through memory between its kernels even where a core has 2 MiB of
/// level 2 cache, the most of today's x86-64 cores. The number does not depend on the target's caches, because blocks change the order of sums.
/// Unit: bytes. Source: judgement, not measured alone.
static constexpr int64_t kMinLargeValueBytes = 128 << 20;

/// What brings operations into a form in which they share kernels, or can be shared by threads.
static void addRewritesForFusion(OpPassManager &pm, const PipelineOptions &options, int64_t devices) {
  // First of all, while rows of the same dimension are easily told: what follows rewrites the operations of a block like all others.
  fusion::BlockRowsPassOptions blocks;
  blocks.minBytes = kMinLargeValueBytes * devices;
  pm.addNestedPass<func::FuncOp>(fusion::createBlockRowsPass(blocks));
  // First: the parts of scatters are combined by reductions, and so are contractions of computed operands.
  pm.addNestedPass<func::FuncOp>(fusion::createSplitScattersPass());
  if (!options.genericOnly)
    pm.addPass(fusion::createFuseCodedProductsPass());
  pm.addNestedPass<func::FuncOp>(fusion::createReduceComputedOperandsPass());
  pm.addNestedPass<func::FuncOp>(fusion::createSplitReductionsPass());
  pm.addNestedPass<func::FuncOp>(fusion::createSplitStacksPass());
  pm.addNestedPass<func::FuncOp>(fusion::createComposeConcatenationsPass());
  // Attention before what copies or pads its operations.
  fusion::KernelCheck never = [](func::FuncOp) { return false; };
  pm.addPass(fusion::createFuseAttentionPass(options.genericOnly ? never : attentionCheck(options.target)));
  pm.addPass(fusion::createSplitConcatenationsPass());
  if (!options.genericOnly) {
    KernelTarget target = kernelTarget(options.target);
    fusion::PadContractionsPassOptions units;
    units.matrixBf16 = target.amxBf16;
    units.matrixInt8 = target.amxInt8;
    pm.addNestedPass<func::FuncOp>(fusion::createPadContractionsPass(units));
  }
  pm.addNestedPass<func::FuncOp>(fusion::createRepeatCheapOperationsPass());
}

void addFusionPasses(OpPassManager &pm, const PipelineOptions &options, int64_t devices) {
  // Before fusion, which takes what follows a collective for one reader of all its results.
  pm.addNestedPass<func::FuncOp>(spmd::createSplitCollectivesPass());
  if (options.fuse)
    addRewritesForFusion(pm, options, devices);
  fusion::FuseKernelsPassOptions fusionOptions;
  fusionOptions.single = !options.fuse;
  pm.addPass(fusion::createFuseKernelsPass(fusionOptions));
  if (!options.genericOnly)
    pm.addPass(fusion::createPackLoopWeightsPass(panelWidth(options.target)));
  // Before constants are prepared: the panels of a contraction for a run-time number of rows are its own.
  pm.addPass(createMarkRowsPass());
  // After what makes kernels, and before it is marked in whose memory they work: kernels of constants work in none.
  pm.addPass(fusion::createPrepareConstantsPass(options.genericOnly ? fusion::PanelsOf() : panelsOf(options.target)));
  pm.addPass(fusion::createMarkInPlacePass());
  // What fusion made kernels of is settled: these are called by collectives, not by the program.
  pm.addPass(createOutlineReducersPass());
  // After everything that decides which kernels there are and what they update.
  pm.addPass(createOrderStepsPass());
  // Last: only now it is known what runs by itself, and in which order.
  pm.addNestedPass<func::FuncOp>(spmd::createOverlapCollectivesPass());
}

} // namespace millrace::lowering

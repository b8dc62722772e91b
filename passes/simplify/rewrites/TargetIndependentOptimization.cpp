// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetIndependentOptimization.cpp - Simplify and fold together -----===//
// Input:   %0 = stablehlo.add %c0, %c1   // constants whose sum is 1   %1 = stablehlo.multiply %x, %0
// Output:  %x
// Leaves alone what stablehlo-aggressive-simplification and stablehlo-aggressive-folder leave alone.
#include "passes/simplify/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/rewrites/SimplifyPatterns.h"

using namespace mlir;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOTARGETINDEPENDENTOPTIMIZATIONPASS
#include "passes/simplify/Passes.h.inc"

namespace {
struct TargetIndependentOptimization
    : impl::StablehloTargetIndependentOptimizationPassBase<TargetIndependentOptimization> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    populateSimplifications(owned);
    // A constant is the simplest form: folding goes first where both apply.
    populateFolding(owned, {foldOpElementLimit, optimizeFloat, assumeNoUndeclaredSideEffects}, /*benefit=*/2);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override {
    // Not reaching a fixed point only leaves something to simplify.
    (void)applyPatternsGreedily(getOperation(), patterns);
  }
  FrozenRewritePatternSet patterns;
};
} // namespace
} // namespace millrace::simplify

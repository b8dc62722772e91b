// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AggressiveSimplification.cpp - Cheaper operations, same values -----===//
// Input:   %1 = stablehlo.slice %0 [2:9]   %2 = stablehlo.slice %1 [1:3]   %3 = stablehlo.divide %2, %two
// Output:  %2 = stablehlo.slice %0 [3:5]   %3 = stablehlo.multiply %2, %half
// Leaves alone what would change a float result: x + 0.0, x / 3.0, pow(x, 0.5).
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/rewrites/SimplifyPatterns.h"

using namespace mlir;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOAGGRESSIVESIMPLIFICATIONPASS
#include "passes/simplify/Passes.h.inc"

void populateSimplifications(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  auto *dialect = context->getLoadedDialect<stablehlo::StablehloDialect>();
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (&op.getDialect() == dialect)
      op.getCanonicalizationPatterns(patterns, context);
  populateElementwiseSimplifications(patterns);
  populateDataMovementSimplifications(patterns);
}

void simplifyGreedily(Operation *root, const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  (void)applyPatternsGreedily(root, patterns, config);
}

namespace {
struct AggressiveSimplification : impl::StablehloAggressiveSimplificationPassBase<AggressiveSimplification> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    populateSimplifications(owned);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override { simplifyGreedily(getOperation(), patterns); }
  FrozenRewritePatternSet patterns;
};
} // namespace
} // namespace millrace::simplify

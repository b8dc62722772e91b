// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AggressiveSimplification.cpp - Cheaper operations, same values -----===//
// Input:   %1 = stablehlo.transpose %0, dims = [1, 0]   %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0]
// Output:  %2 = stablehlo.dot_general %0, %b, contracting_dims = [0] x [0]
// Leaves alone what would change a float result: x + 0.0, x / 3.0, pow(x, 0.5).
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/SimplifyPatterns.h"

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
  populateIndexSimplifications(patterns);
  populateDataMovementSimplifications(patterns);
  populateContractionSimplifications(patterns);
  populateDiagonalSimplifications(patterns);
  populateScatterSimplifications(patterns);
}

namespace {
struct AggressiveSimplification : impl::StablehloAggressiveSimplificationPassBase<AggressiveSimplification> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    populateSimplifications(owned);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    // Producers first: most rewrites look at the producer of an operand.
    config.setUseTopDownTraversal(true);
    // Not reaching a fixed point only leaves something to simplify.
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }
  FrozenRewritePatternSet patterns;
};
} // namespace
} // namespace millrace::simplify

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OptimizeCollectives.cpp - sdy collectives that are none, or one together -----===//
// Input, output and what is left alone: dialects/sdy/Canonicalize.cpp, without what that does to other operations.
#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_OPTIMIZECOLLECTIVESPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

struct OptimizeCollectives : impl::OptimizeCollectivesPassBase<OptimizeCollectives> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    sdy::populateCollectivePatterns(patterns);
    if (!reshards)
      llvm::erase_if(patterns.getNativePatterns(), [](const std::unique_ptr<RewritePattern> &pattern) {
        return pattern->getRootKind() && pattern->getRootKind()->getStringRef() == sdy::ReshardOp::getOperationName();
      });
    // Nothing else: constants stay where propagation has put them.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      getOperation().emitWarning("collectives could still be joined after the greatest number of steps");
  }
};

} // namespace
} // namespace millrace::sharding

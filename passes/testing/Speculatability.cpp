// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Speculatability.cpp - May an operation run where it would not have? -===//
// Input:   %0 = stablehlo.abs %x : tensor<2xf32>
//          "hlo_test_speculatability.is_speculatable"(%0) : (tensor<2xf32>) -> ()
// Output:  nothing of both, where it is so; otherwise both stay.
//===----------------------------------------------------------------------===//
#include "passes/testing/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace millrace::testing {
#define GEN_PASS_DEF_HLOTESTSPECULATABILITYPASS
#include "passes/testing/Passes.h.inc"

namespace {

/// Erases a test that holds, and the operation that it tests.
struct ClaimPattern : RewritePattern {
  ClaimPattern(MLIRContext *context, StringRef name, Speculation::Speculatability claimed)
      : RewritePattern(name, 1, context), claimed(claimed) {}
  LogicalResult matchAndRewrite(Operation *claim, PatternRewriter &rewriter) const override {
    auto asked = claim->getNumOperands() == 1 ? claim->getOperand(0).getDefiningOp<ConditionallySpeculatable>() : nullptr;
    if (!asked || !asked->hasOneUse() || claim->getNumResults())
      return rewriter.notifyMatchFailure(claim, "expects an operation with a speculatability and no other use");
    if (asked.getSpeculatability() != claimed)
      return rewriter.notifyMatchFailure(claim, "the speculatability is another one");
    rewriter.eraseOp(claim);
    rewriter.eraseOp(asked);
    return success();
  }
  Speculation::Speculatability claimed;
};

struct HloTestSpeculatability : impl::HloTestSpeculatabilityPassBase<HloTestSpeculatability> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    auto add = [&](StringRef name, Speculation::Speculatability claimed) {
      patterns.add<ClaimPattern>(&getContext(), ("hlo_test_speculatability." + name).str(), claimed);
    };
    add("is_speculatable", Speculation::Speculatable);
    add("is_not_speculatable", Speculation::NotSpeculatable);
    add("is_recursively_speculatable", Speculation::RecursivelySpeculatable);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::testing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChloLegalizeToStablehlo.cpp - Replace CHLO by StableHLO ------------===//
// Input:   %1 = chlo.asin %0 : tensor<4xf32> -> tensor<4xf32>
// Output:  2 * atan2(x, 1 + sqrt((1 - x) * (1 + x))) in stablehlo operations
// Leaves nothing of chlo; an operation that no pattern takes (top_k of a dynamic shape) is an error.
#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/chlo/Passes.h"

using namespace mlir;
namespace millrace::chlo {

#define GEN_PASS_DEF_CHLOLEGALIZETOSTABLEHLOPASS
#include "passes/chlo/Passes.h.inc"

void populateChloToStablehloPatterns(RewritePatternSet &patterns) {
  populateBroadcastPatterns(patterns);
  populateTrigonometricPatterns(patterns);
  populateSpecialFunctionPatterns(patterns);
  populateStructuralPatterns(patterns);
}

namespace {
struct ChloLegalizeToStablehlo : impl::ChloLegalizeToStablehloPassBase<ChloLegalizeToStablehlo> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateChloToStablehloPatterns(set);
    patterns = std::move(set);
    return success();
  }
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<ChloDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, patterns)))
      signalPassFailure();
  }
  FrozenRewritePatternSet patterns;
};
} // namespace

} // namespace millrace::chlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CanonicalizeProgram.cpp - Canonicalize programs before lowering ----===//
// Input:   %c = arith.constant 1 : index   %1 = arith.addi %c, %c : index   (and whatever else has a folder or a canonicalization pattern)
// Output:  %c = arith.constant 2 : index
// Leaves alone operations of dialects that lowering introduces: vector, memref, linalg and the like have no patterns here.
#include "passes/simplify/Passes.h"

#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
namespace millrace::simplify {

#define GEN_PASS_DEF_CANONICALIZEPROGRAMPASS
#include "passes/simplify/Passes.h.inc"

namespace {

struct CanonicalizeProgram : impl::CanonicalizeProgramPassBase<CanonicalizeProgram> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    auto isProgramDialect = [](const Dialect &dialect) {
      return isa<arith::ArithDialect, chlo::ChloDialect, func::FuncDialect, shape::ShapeDialect, stablehlo::StablehloDialect,
                 tensor::TensorDialect>(dialect);
    };
    for (Dialect *dialect : context->getLoadedDialects())
      if (isProgramDialect(*dialect))
        dialect->getCanonicalizationPatterns(owned);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (isProgramDialect(op.getDialect()))
        op.getCanonicalizationPatterns(owned, context);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
    // Not reaching a fixed point only leaves something to simplify.
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace millrace::simplify

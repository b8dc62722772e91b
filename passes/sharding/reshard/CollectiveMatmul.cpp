// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveMatmul.cpp - Collectives around products are left to the product -===//
// Input:   %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=... ; %2 = stablehlo.dot %1, %w ; %3 = sdy.reduce_scatter [{}, {"x"}] %2 ...
// Output:  %2 = stablehlo.dot %0, %w {the sharding of %3}
// Leaves alone an all_gather with another user, and a product that says what it does not sum.
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/ProgramPasses.h"

#include "dialects/stablehlo/Ops.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_REMOVEALLGATHERREDUCESCATTERFORCMV1PASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

struct RemoveAroundProducts : impl::RemoveAllGatherReduceScatterForCMV1PassBase<RemoveAroundProducts> {
  void runOnOperation() override {
    auto isProduct = [](Operation *op) { return isa_and_nonnull<stablehlo::DotOp, stablehlo::DotGeneralOp>(op); };
    getOperation().walk([&](Operation *op) {
      if (auto gather = dyn_cast<sdy::AllGatherOp>(op); gather && gather->hasOneUse() && isProduct(*gather->user_begin())) {
        gather.replaceAllUsesWith(gather.getTensor());
        gather.erase();
        return;
      }
      auto scatter = dyn_cast<sdy::ReduceScatterOp>(op);
      if (!scatter || !isProduct(scatter.getTensor().getDefiningOp()))
        return;
      sdy::TensorShardingAttr made = sdy::getSharding(scatter.getTensor());
      if (made && !made.getUnreducedAxes().empty())
        return;
      setSharding(scatter.getTensor(), scatter.getOutSharding());
      scatter.replaceAllUsesWith(scatter.getTensor());
      scatter.erase();
    });
  }
};

} // namespace
} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HoistLoopInvariants.cpp - Move loop-invariant operations out of loops ===//
// Input:   while(%i = %0, %w = %a) do { %t = transpose %w ; ... return %i2, %w }
// Output:  %t = transpose %a ; while(%i = %0) do { ... return %i2 }
// Leaves alone constants, iotas, broadcasts, and operations with side effects.
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_HOISTLOOPINVARIANTSPASS
#include "passes/loops/Passes.h.inc"

namespace {

struct HoistLoopInvariants : impl::HoistLoopInvariantsPassBase<HoistLoopInvariants> {
  void runOnOperation() override {
    // Inner loops come first, so that their invariants can leave the outer loops, too.
    SmallVector<shlo::WhileOp> loops;
    getOperation().walk<WalkOrder::PostOrder>([&](shlo::WhileOp loop) { loops.push_back(loop); });
    for (shlo::WhileOp loop : loops) {
      readInvariantsFromOutside(loop);
      for (Region *region : {&loop.getCond(), &loop.getBody()})
        hoist(loop, *region);
    }
  }

  /// Replaces uses of carried values that the body returns unchanged by the initial values.
  static void readInvariantsFromOutside(shlo::WhileOp loop) {
    Block &cond = loop.getCond().front(), &body = loop.getBody().front();
    Operation *yield = body.getTerminator();
    for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
      if (yield->getOperand(i) != body.getArgument(i) || !isa<RankedTensorType>(body.getArgument(i).getType()))
        continue;
      Value init = loop->getOperand(i);
      cond.getArgument(i).replaceAllUsesWith(init);
      body.getArgument(i).replaceAllUsesExcept(init, yield);
      loop->getResult(i).replaceAllUsesWith(init);
    }
  }

  static void hoist(shlo::WhileOp loop, Region &region) {
    for (Operation &op : llvm::make_early_inc_range(region.front())) {
      if (op.hasTrait<OpTrait::IsTerminator>() || isa<shlo::ConstantOp, shlo::IotaOp, shlo::BroadcastInDimOp>(op))
        continue;
      if (!isPure(&op) && !isa<shlo::ReduceOp, shlo::DotGeneralOp>(op))
        continue;
      if (!isMemoryEffectFree(&op))
        continue;
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op.getRegions(), captured);
      auto outside = [&](Value value) {
        if (!region.isAncestor(value.getParentRegion()))
          return true;
        // A constant of the body moves out together with its user.
        return isa_and_nonnull<shlo::ConstantOp>(value.getDefiningOp()) && value.getParentRegion() == &region;
      };
      if (!llvm::all_of(op.getOperands(), outside) || !llvm::all_of(captured, outside))
        continue;
      auto bringConstant = [&](Value value) {
        if (region.isAncestor(value.getParentRegion()))
          value.getDefiningOp()->moveBefore(loop);
      };
      llvm::for_each(op.getOperands(), bringConstant);
      llvm::for_each(captured, bringConstant);
      op.moveBefore(loop);
    }
  }
};

} // namespace
} // namespace millrace::loops

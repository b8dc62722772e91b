// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseKernels.cpp - Group operations into kernel functions -----------===//
// Input:   %0 = stablehlo.add %a, %b ; %1 = stablehlo.tanh %0
// Output:  %1 = call @tanh_1(%a, %b)   with @tanh_1 private, {millrace.kernel}, holding both operations
// Leaves alone what the runtime executes as steps (role TopLevel in FusionPolicy.h), and recurses into its regions.
//===----------------------------------------------------------------------===//
#include "passes/fusion/plan/FusionPlan.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/plan/Outline.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace millrace::fusion {
#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

struct FuseKernels : impl::FuseKernelsPassBase<FuseKernels> {
  using FuseKernelsPassBase::FuseKernelsPassBase;

  void runOnOperation() override {
    KernelOutliner outliner(getOperation());
    forEachProgramBlock(getOperation(), [&](Block &block) {
      FusionPlan plan = single ? planSingle(block) : planFusion(block);
      for (const MissedFusion &miss : plan.missed)
        remark::missed(miss.producer->getLoc(), remark::RemarkOpts::name("not-fused").category("xla-fuse-kernels"))
            << "not fused into " << miss.consumerRoot->getName().getStringRef() << ": " << miss.why;
      outliner.outline(plan.clusters);
    });
  }

  static FusionPlan planSingle(Block &block) {
    FusionPlan plan;
    for (Operation &op : block) {
      OpRole role = classify(&op);
      if (role == OpRole::TopLevel || role == OpRole::Duplicated)
        continue;
      Cluster cluster;
      cluster.ops.push_back(&op);
      plan.clusters.push_back(std::move(cluster));
    }
    return plan;
  }
};

} // namespace

} // namespace millrace::fusion

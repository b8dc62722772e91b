// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseKernels.cpp - Group operations into kernel functions -----------===//
// Input:   %0 = stablehlo.add %a, %b ; %1 = stablehlo.tanh %0
// Output:  %1 = call @tanh_1(%a, %b)   with @tanh_1 private, {millrace.kernel}, holding both operations
// Leaves alone what the runtime executes as steps (role TopLevel in FusionPolicy.h), and recurses into its regions.
//===----------------------------------------------------------------------===//
#include "passes/fusion/Attention.h"
#include "passes/fusion/FusionPlan.h"
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Outline.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/PoolGradients.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::fusion {
#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// The line of the first file location in `loc`, or 0.
unsigned lineOf(Location loc) {
  unsigned line = 0;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    line = file.getLine();
    return WalkResult::interrupt();
  });
  return line;
}

class Outliner {
public:
  explicit Outliner(ModuleOp module) : symbols(module) {}

  void outline(const Cluster &cluster) {
    llvm::SetVector<Operation *> members(cluster.ops.begin(), cluster.ops.end());
    Operation *root = cluster.root();
    StringRef mnemonic = root->getName().stripDialect();
    OutlinedKernel kernel = outlineCluster(cluster, (mnemonic + "_" + Twine(lineOf(root->getLoc()))).str());
    if (cluster.isAttention)
      kernel.function->setAttr(kAttentionAttr, UnitAttr::get(root->getContext()));
    symbols.insert(kernel.function); // makes the name unique
    OpBuilder builder(root);
    auto call = func::CallOp::create(builder, root->getLoc(), kernel.function, kernel.inputs);
    for (auto [output, result] : llvm::zip_equal(kernel.outputs, call.getResults()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) { return !isInside(use.getOwner(), members); });
    for (Operation *op : llvm::reverse(cluster.ops))
      op->erase();
  }

private:
  SymbolTable symbols;
};

struct FuseKernels : impl::FuseKernelsPassBase<FuseKernels> {
  using FuseKernelsPassBase::FuseKernelsPassBase;
  FuseKernels(FuseKernelsPassOptions options, KernelCheck isAttention) : FuseKernelsPassBase(options), isAttention(std::move(isAttention)) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Outliner outliner(module);
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      fuseRegion(function.getBody(), outliner);
  }

  void fuseRegion(Region &region, Outliner &outliner) {
    for (Block &block : region) {
      for (Operation &op : block)
        if (classify(&op) == OpRole::TopLevel && isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
          for (Region &inner : op.getRegions())
            fuseRegion(inner, outliner);
      FusionPlan plan;
      if (single) {
        plan = planSingle(block);
      } else {
        splitScatters(block); // the parts are put together by sums
        sumComputedFactors(block);
        splitReductions(block);
        splitStacks(block);
        composePieces(block);
        mergePads(block);
        moveBehindReshapes(block);
        // Attention first: copies of its operations would only be in its way.
        std::vector<Cluster> settled = findAttention(block, isAttention);
        llvm::append_range(settled, findPoolGradients(block));
        llvm::append_range(settled, splitJoins(block, settled));
        padSums(block, settled, MatrixUnit{matrixBf16, matrixInt8}); // what attention does not take
        repeatCheapOperations(block, settled);
        plan = planFusion(block, settled);
      }
      for (const MissedFusion &miss : plan.missed)
        remark::missed(miss.producer->getLoc(),
                       remark::RemarkOpts::name("not-fused").category("xla-fuse-kernels"))
            << "not fused into " << miss.consumerRoot->getName().getStringRef() << ": " << miss.why;
      for (const Cluster &cluster : plan.clusters)
        outliner.outline(cluster);
      removeDead(block);
    }
  }

  /// Duplicated operations whose consumers all became kernels are dead now.
  static void removeDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
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

  KernelCheck isAttention;
};

} // namespace

std::unique_ptr<Pass> createFuseKernelsPass(FuseKernelsPassOptions options, KernelCheck isAttention) {
  return std::make_unique<FuseKernels>(options, std::move(isAttention));
}

} // namespace millrace::fusion

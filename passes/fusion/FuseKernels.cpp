// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseKernels.cpp - Group operations into kernel functions -----------===//
// Input:   %0 = stablehlo.add %a, %b ; %1 = stablehlo.tanh %0
// Output:  %1 = call @tanh_1(%a, %b)   with @tanh_1 private, {millrace.kernel}, holding both operations
// Leaves alone what the runtime executes as steps (role TopLevel in FusionPolicy.h), and recurses into its regions.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPlan.h"
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Passes.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
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
    llvm::SetVector<Value> inputs;
    llvm::SetVector<Operation *> duplicates;
    for (Operation *op : cluster.ops)
      collectInputs(op, members, inputs, duplicates);

    SmallVector<Value> outputs;
    for (Operation *op : cluster.ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isInside(user, members); }))
          outputs.push_back(result);

    Operation *root = cluster.root();
    OpBuilder builder(root);
    StringRef mnemonic = root->getName().stripDialect();
    std::string name = (mnemonic + "_" + Twine(lineOf(root->getLoc()))).str();
    auto type = builder.getFunctionType(TypeRange(inputs.getArrayRef()), TypeRange(ValueRange(outputs)));
    auto kernel = func::FuncOp::create(root->getLoc(), name, type);
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr, builder.getUnitAttr());
    symbols.insert(kernel); // makes the name unique

    Block *body = kernel.addEntryBlock();
    IRMapping mapping;
    for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
      mapping.map(input, argument);
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    for (Operation *op : duplicates)
      inner.clone(*op, mapping);
    for (Operation *op : cluster.ops)
      inner.clone(*op, mapping);
    SmallVector<Value> returned;
    for (Value output : outputs)
      returned.push_back(mapping.lookup(output));
    func::ReturnOp::create(inner, root->getLoc(), returned);

    auto call = func::CallOp::create(builder, root->getLoc(), kernel, inputs.getArrayRef());
    for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) { return !isInside(use.getOwner(), members); });
    for (Operation *op : llvm::reverse(cluster.ops))
      op->erase();
  }

private:
  static bool isInside(Operation *op, const llvm::SetVector<Operation *> &members) {
    for (; op; op = op->getParentOp())
      if (members.contains(op))
        return true;
    return false;
  }

  /// Operands and captured values of `op` that come from outside the cluster; operations that are cloned go to
  /// `duplicates`, after what they need themselves.
  void collectInputs(Operation *op, const llvm::SetVector<Operation *> &members, llvm::SetVector<Value> &inputs,
                     llvm::SetVector<Operation *> &duplicates) {
    auto need = [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def && members.contains(def))
        return;
      if (def && classify(def) == OpRole::Duplicated) {
        collectInputs(def, members, inputs, duplicates);
        duplicates.insert(def);
        return;
      }
      inputs.insert(value);
    };
    for (Value operand : op->getOperands())
      need(operand);
    if (op->getNumRegions()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        need(value);
    }
  }

  SymbolTable symbols;
};

struct FuseKernels : impl::FuseKernelsPassBase<FuseKernels> {
  using FuseKernelsPassBase::FuseKernelsPassBase;

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
      if (!single)
        repeatCheapOperations(block);
      FusionPlan plan = single ? planSingle(block) : planFusion(block);
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
};

} // namespace
} // namespace millrace::fusion

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.cpp - Clusters as functions --------------------------------===//
#include "passes/fusion/plan/Outline.h"

#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::fusion {

/// The operation is a member or in a region of one.
static bool isInside(Operation *op, const llvm::SetVector<Operation *> &members) {
  for (; op; op = op->getParentOp())
    if (members.contains(op))
      return true;
  return false;
}

/// Operands and captured values of `op` that come from outside the cluster; operations that are cloned go to `duplicates`, after what
/// they need themselves.
static void collectInputs(Operation *op, const llvm::SetVector<Operation *> &members, llvm::SetVector<Value> &inputs,
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

OutlinedKernel outlineCluster(const Cluster &cluster, StringRef name) {
  llvm::SetVector<Operation *> members(cluster.ops.begin(), cluster.ops.end()), duplicates;
  llvm::SetVector<Value> inputs;
  for (Operation *op : cluster.ops)
    collectInputs(op, members, inputs, duplicates);
  OutlinedKernel kernel;
  for (Operation *op : cluster.ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isInside(user, members); }))
        kernel.outputs.push_back(result);
  kernel.inputs.assign(inputs.begin(), inputs.end());

  Operation *root = cluster.root();
  Builder builder(root->getContext());
  auto type = builder.getFunctionType(TypeRange(inputs.getArrayRef()), TypeRange(ValueRange(kernel.outputs)));
  kernel.function = func::FuncOp::create(root->getLoc(), name, type);
  kernel.function.setPrivate();
  kernel.function->setAttr(kKernelAttr, builder.getUnitAttr());
  Block *body = kernel.function.addEntryBlock();
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
    mapping.map(input, argument);
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  for (Operation *op : duplicates)
    inner.clone(*op, mapping);
  for (Operation *op : cluster.ops)
    inner.clone(*op, mapping);
  SmallVector<Value> returned;
  for (Value output : kernel.outputs)
    returned.push_back(mapping.lookup(output));
  func::ReturnOp::create(inner, root->getLoc(), returned);
  return kernel;
}

/// Moves the reshapes of `value` that are in front of `root` behind `after`. They are aliases, made where they are read.
static void sinkViews(Value value, Operation *root, Operation *after, const llvm::SetVector<Operation *> &members) {
  for (Operation *user : llvm::to_vector(value.getUsers())) {
    if (!isView(user) || members.contains(user) || user->getBlock() != root->getBlock() || !user->isBeforeInBlock(root))
      continue;
    user->moveAfter(after);
    sinkViews(user->getResult(0), root, user, members);
  }
}

/// Lets the kernel return the operands of its reshapes, not their results: readers outside of the kernel read copies of the reshapes behind its root,
/// which are aliases. Other reshapes of what the kernel computes move there, too.
static void placeViews(const Cluster &cluster) {
  llvm::SetVector<Operation *> members(cluster.ops.begin(), cluster.ops.end());
  Operation *root = cluster.root();
  for (Operation *op : llvm::reverse(cluster.ops)) {
    auto isOutside = [&](OpOperand &use) { return !isInside(use.getOwner(), members); };
    if (isView(op) && llvm::any_of(op->getUses(), isOutside)) {
      OpBuilder builder(root->getContext());
      builder.setInsertionPointAfter(root);
      Operation *copy = builder.clone(*op);
      op->getResult(0).replaceUsesWithIf(copy->getResult(0), isOutside);
      sinkViews(copy->getResult(0), root, copy, members);
    }
    for (Value result : op->getResults())
      sinkViews(result, root, root, members);
  }
}

/// The line of the first file location in `loc`, or 0.
static unsigned lineOf(Location loc) {
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

void KernelOutliner::outline(ArrayRef<Cluster> clusters) {
  SmallVector<const Cluster *> inOrder;
  for (const Cluster &cluster : clusters)
    inOrder.push_back(&cluster);
  llvm::sort(inOrder, [](const Cluster *a, const Cluster *b) { return a->root()->isBeforeInBlock(b->root()); });
  for (const Cluster *cluster : inOrder)
    outline(*cluster);
}

void KernelOutliner::outline(const Cluster &cluster) {
  llvm::SetVector<Operation *> members(cluster.ops.begin(), cluster.ops.end());
  Operation *root = cluster.root();
  StringRef mnemonic = root->getName().stripDialect();
  if (!cluster.isAttention)
    placeViews(cluster);
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

} // namespace millrace::fusion

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitConstants.cpp - A copy of every constant for every use, and back -===//
// Input:   %c = stablehlo.constant dense<1.0> : tensor<8xf32>
//          %0 = stablehlo.add %x, %c ; %1 = stablehlo.multiply %y, %c
// Output:  %c0 = sdy.constant dense<1.0> ; %0 = stablehlo.add %x, %c0 ; %c1 = sdy.constant ... ; ... %y, %c1
// Leaves alone what is computed from arguments, except the broadcast of a scalar.
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/Passes.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
#define GEN_PASS_DEF_CONSTANTORSCALARSPLITTERPASS
#define GEN_PASS_DEF_CONSTANTSPLITTERPASS
#define GEN_PASS_DEF_CONSTANTORSCALARMERGERPASS
#include "passes/sharding/Passes.h.inc"

namespace {

bool isScalar(Value value) { return shapeOf(value).empty(); }

bool isScalarBroadcast(Operation *op) {
  auto broadcast = dyn_cast<BroadcastInDimOp>(op);
  return broadcast && isScalar(broadcast.getOperand());
}

/// Copies constants that several operations share. Scalars are not sharded, so they stay shared.
class Splitter {
public:
  explicit Splitter(bool scalars) : scalars(scalars) {}

  void run(func::FuncOp function) {
    nameConstants(function);
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isConstant(op)) {
        shared.insert(op);
      } else if (scalars && isScalarBroadcast(op)) {
        shared.insert(op);
        broadcasts.insert(op);
      } else if (!isa<sdy::ShardingGroupOp>(op)) {
        // A use that is no constant gets a computation of its own.
        for (OpOperand &operand : op->getOpOperands())
          if (Operation *definition = operand.get().getDefiningOp(); definition && shared.contains(definition))
            operand.set(copy(operand.get()));
      }
    });
    for (Operation *op : llvm::reverse(shared)) {
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (isa<sdy::ShardingGroupOp>(user) && !isScalar(op->getResult(0)))
          user->erase();
      if (op->use_empty())
        op->erase();
    }
  }

private:
  /// sdy.constant is merged with none of its equals while passes run.
  static void nameConstants(func::FuncOp function) {
    function.walk([](ConstantOp op) {
      OpBuilder builder(op);
      auto constant = sdy::ConstantOp::create(builder, op.getLoc(), op.getType(), op.getValue());
      constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      op.replaceAllUsesWith(constant.getResult());
      op.erase();
    });
  }

  /// Made of constants alone.
  bool isConstant(Operation *op) const {
    if (isa<sdy::ConstantOp, IotaOp>(op))
      return true;
    bool keeps = isa<BroadcastInDimOp, ReshapeOp, SliceOp>(op) || (isElementwise(op) && isPure(op));
    return keeps && llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *definition = operand.getDefiningOp();
             return definition && shared.contains(definition) && !broadcasts.contains(definition);
           });
  }

  Value copy(Value value) {
    IRMapping mapping;
    copyInto(mapping, value);
    return mapping.lookupOrDefault(value);
  }

  void copyInto(IRMapping &mapping, Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isScalar(value) || !shared.contains(op) || mapping.contains(value))
      return;
    for (Value operand : op->getOperands())
      copyInto(mapping, operand);
    OpBuilder builder(op);
    builder.clone(*op, mapping);
    for (Operation *user : llvm::to_vector(value.getUsers()))
      if (isa<sdy::ShardingGroupOp>(user))
        builder.clone(*user, mapping);
  }

  bool scalars;
  llvm::SetVector<Operation *> shared;
  llvm::SmallPtrSet<Operation *, 8> broadcasts;
};

void split(func::FuncOp function, bool scalars) {
  if (!function.isExternal())
    Splitter(scalars).run(function);
}

struct ConstantOrScalarSplitter : impl::ConstantOrScalarSplitterPassBase<ConstantOrScalarSplitter> {
  void runOnOperation() override { split(getOperation(), true); }
};
struct ConstantSplitter : impl::ConstantSplitterPassBase<ConstantSplitter> {
  void runOnOperation() override { split(getOperation(), false); }
};

/// Equal constants with equal attributes; the first in a block stays.
struct ConstantOrScalarMerger : impl::ConstantOrScalarMergerPassBase<ConstantOrScalarMerger> {
  void runOnOperation() override {
    getOperation().walk([&](Block *block) {
      SmallVector<Operation *> seen;
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (!isa<sdy::ConstantOp, ConstantOp>(op) && !isScalarBroadcast(&op))
          continue;
        auto *same = llvm::find_if(seen, [&](Operation *other) {
          return OperationEquivalence::isEquivalentTo(&op, other, OperationEquivalence::IgnoreLocations);
        });
        if (same == seen.end()) {
          seen.push_back(&op);
          continue;
        }
        op.replaceAllUsesWith(*same);
        op.erase();
      }
    });
  }
};

} // namespace
} // namespace millrace::sharding

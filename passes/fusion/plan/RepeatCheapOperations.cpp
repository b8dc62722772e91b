// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RepeatCheapOperations.cpp - Recompute cheap values in each kernel ------===//
// Input:   %d = subtract %x, %mean ; %v = reduce(%d * %d) ; %y = multiply %d, %scale
// Output:  %d = subtract %x, %mean ; %v = reduce(%d * %d) ; %e = subtract %x, %mean ; %y = multiply %e, %scale
//          A kernel that needs %d reads %x as fast, and the previous kernel does not store %d.
// Leaves alone operations that cost more than an addition or two, those with two large operands (twice the bytes to read), small values, values that
// are stored anyway.
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_REPEATCHEAPOPERATIONSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A smaller value stays in the nearest cache between its kernels, so that computing it again gains nothing. Unit: elements. Source: judgement, not
/// measured alone; commit 12b57fc has the figures of the whole change.
constexpr int64_t kMinRepeatedElements = 16384;
/// A cheap operation with more readers is computed once. Unit: copies. Source: judgement, not measured alone; commit 12b57fc has the figures of the
/// whole change.
constexpr int64_t kMaxCopies = 4;

int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// Returns true if computing `op` again costs less than storing and loading its result.
bool isCheap(Operation *op) {
  int64_t elements = op->getNumResults() == 1 ? elementsOf(op->getResult(0)) : -1;
  if (isa<SliceOp>(op)) // the reader addresses the operand instead
    return elements >= 0;
  if (elements < kMinRepeatedElements)
    return false;
  // A broadcast of a small operand, which stays in the cache.
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return classify(op) == OpRole::Broadcast && elementsOf(broadcast.getOperand()) >= 0 && elementsOf(broadcast.getOperand()) * 16 <= elements;
  const Type element = getElementTypeOrSelf(op->getResult(0));
  if (!isa<AddOp, SubtractOp, MulOp, NegOp, MaxOp, MinOp, AbsOp, ConvertOp>(op) || !element.isIntOrFloat())
    return false;
  Value large;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (operand == large || (source && classify(source) == OpRole::Duplicated))
      continue;
    auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(source);
    if (broadcast && elementsOf(broadcast.getOperand()) * 16 <= elements)
      continue;
    if (large)
      return false;
    large = operand;
  }
  // A narrower operand only: the bytes read may not grow.
  if (!large)
    return true;
  const Type from = getElementTypeOrSelf(large); // complex for abs
  return from.isIntOrFloat() && from.getIntOrFloatBitWidth() <= element.getIntOrFloatBitWidth();
}

struct RepeatCheapOperations : impl::RepeatCheapOperationsPassBase<RepeatCheapOperations> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      SmallVector<Operation *> ops;
      for (Operation &op : block)
        ops.push_back(&op);
      // Users before producers: a copy's operands may be worth repeating for it.
      for (Operation *op : llvm::reverse(ops)) {
        llvm::SmallSetVector<Operation *, 4> users;
        for (Operation *user : op->getUsers())
          users.insert(user);
        if (users.size() < 2 || (int64_t)users.size() > kMaxCopies || !isCheap(op))
          continue;
        bool isAllComputed = llvm::all_of(users, [&](Operation *user) {
          OpRole role = classify(user);
          return user->getBlock() == &block && (role == OpRole::Elementwise || role == OpRole::Reduction);
        });
        if (!isAllComputed)
          continue;
        for (Operation *user : llvm::drop_begin(users)) {
          OpBuilder builder(user);
          user->replaceUsesOfWith(op->getResult(0), builder.clone(*op)->getResult(0));
        }
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion

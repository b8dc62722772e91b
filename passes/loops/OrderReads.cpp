// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderReads.cpp - Move reads of arrays before their updates in loops ===//
// Input:   while(%a, %b) do { %x = slice %b ; %a2 = update %a, %x ; %y = slice %a ; %b2 = update %b, %y ; return %a2, %b2 }
// Output:  while(%a, %b) do { %x = slice %b ; %y = slice %a ; %a2 = update %a, %x ; %b2 = update %b, %y ; return %a2, %b2 }
// Both arrays are then updated in place. Leaves alone blocks outside of loops, reads that need the update's result, and operations with side effects.
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/loops/ArrayUpdates.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_ORDERREADSPASS
#include "passes/loops/Passes.h.inc"

namespace {

/// The operations of one block, and the arrays that each of them updates.
class BlockOrder {
public:
  explicit BlockOrder(Block &block) : block(block) {
    for (Operation &op : block.without_terminator())
      for (Value result : op.getResults())
        if (Value array = updatedValue(result))
          updated[&op].push_back(array);
  }

  void run() {
    // Operations move before the update, so that every update of the original order is visited once.
    SmallVector<Operation *> updates;
    for (Operation &op : block)
      if (updated.contains(&op))
        updates.push_back(&op);
    for (Operation *update : updates)
      for (Value array : updated[update])
        readBefore(array, update);
  }

private:
  /// Returns the operations of the block that read or update `array`, except `update`.
  SmallVector<Operation *> othersOf(Value array, Operation *update) {
    SmallVector<Operation *> others;
    for (Operation *user : array.getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (here && here != update && !here->hasTrait<OpTrait::IsTerminator>())
        others.push_back(here);
    }
    return others;
  }

  void readBefore(Value array, Operation *update) {
    for (Operation *reader : othersOf(array, update)) {
      auto made = updated.find(reader);
      bool makesAnother = made != updated.end() && llvm::is_contained(made->second, array); // one of them has to copy
      llvm::SetVector<Operation *> moved;
      if (reader->isBeforeInBlock(update) || makesAnother || !collect(reader, update, moved))
        continue;
      SmallVector<Operation *> inOrder = moved.takeVector();
      llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      for (Operation *op : inOrder)
        op->moveBefore(update);
    }
  }

  /// Adds to `moved` the operations after `update` that must stay before `op`: its operands, and readers of the arrays that it updates. Returns false
  /// if `update` is among them or one has side effects.
  bool collect(Operation *op, Operation *update, llvm::SetVector<Operation *> &moved) {
    if (op == update)
      return false;
    if (op->isBeforeInBlock(update) || !moved.insert(op))
      return true;
    if (!isMemoryEffectFree(op))
      return false;
    llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), needed);
    for (Value value : needed)
      if (Operation *maker = value.getDefiningOp(); maker && maker->getBlock() == &block && !collect(maker, update, moved))
        return false;
    auto arrays = updated.find(op);
    if (arrays == updated.end())
      return true;
    for (Value array : arrays->second)
      for (Operation *reader : othersOf(array, op))
        if (reader->isBeforeInBlock(op) && !collect(reader, update, moved))
          return false;
    return true;
  }

  Block &block;
  llvm::DenseMap<Operation *, SmallVector<Value>> updated;
};

struct OrderReads : impl::OrderReadsPassBase<OrderReads> {
  void runOnOperation() override {
    getOperation().walk([](WhileOp loop) {
      loop.getBody().walk([](Block *block) {
        if (isa<WhileOp, IfOp, CaseOp>(block->getParentOp()))
          BlockOrder(*block).run();
      });
    });
  }
};

} // namespace
} // namespace millrace::loops

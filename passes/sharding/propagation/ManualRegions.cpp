// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ManualRegions.cpp - Find manual regions between shape conversions ---===//
// Input:   %1 = custom_call @SPMDFullToShardShape(custom_call @Sharding(%x)), %2 = sine %1, custom_call @SPMDShardToFullShape(%2)
// Output:  sdy.manual_computation(%x) in_shardings=[...] out_shardings=[...] manual_axes={...} (%y) { %2 = sine %y ... }
// A value's level is the number of regions around it. Operations of the deepest level that values connect are a region; operations without operands
// (constants, device ids) are copied to their uses.
#include "passes/sharding/propagation/ManualRegions.h"

#include "passes/sharding/exchange/RoundTrip.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::sharding {

namespace {

bool isEntry(Operation *op) { return isCallOf(op, target::fullToShard); }
bool isExit(Operation *op) { return isCallOf(op, target::shardToFull); }

/// The call of @Sharding that says how the operand of a change of shape is split.
stablehlo::CustomCallOp annotationOf(Operation *change) {
  Operation *made = change->getOperand(0).getDefiningOp();
  return isCallOf(made, target::sharding) ? cast<stablehlo::CustomCallOp>(made) : stablehlo::CustomCallOp();
}

struct Group {
  SmallVector<Operation *> entries, body, exits; ///< in block order
};

class BlockRegions {
public:
  BlockRegions(Block &block, const ManualStrings &strings) : block(block), strings(strings) {}

  LogicalResult run() {
    while (true) {
      if (failed(findLevels()))
        return failure();
      if (deepest == 0)
        return success();
      if (failed(build(findGroup())))
        return failure();
    }
  }

private:
  /// Calls `visit` with every value that the operation, or one in its regions, uses and does not make.
  void forEachUse(Operation *op, function_ref<void(Value)> visit) {
    op->walk([&](Operation *inner) {
      for (Value value : inner->getOperands())
        if (!op->isAncestor(value.getParentBlock()->getParentOp()))
          visit(value);
    });
  }

  /// None: nothing that changes from device to device goes into it.
  std::optional<int64_t> levelOf(Value value) {
    Operation *made = value.getDefiningOp();
    return made && made->getBlock() == &block ? levels.lookup(made) : 0;
  }

  LogicalResult findLevels() {
    levels.clear();
    deepest = 0;
    for (Operation &op : block) {
      std::optional<int64_t> level;
      forEachUse(&op, [&](Value value) {
        if (auto of = levelOf(value))
          level = std::max(level.value_or(0), *of);
      });
      if (isEntry(&op))
        level = level.value_or(0) + 1;
      else if (isExit(&op))
        level = level.value_or(1) - 1;
      if (level && (*level < 0 || (*level > 0 && op.hasTrait<OpTrait::IsTerminator>())))
        return failure();
      levels[&op] = level;
      deepest = std::max({deepest, level.value_or(0), isExit(&op) ? *level + 1 : 0});
    }
    return success();
  }

  bool isLocal(Value value) { return levelOf(value) == deepest; }

  /// One region of the deepest level.
  Group findGroup() {
    llvm::EquivalenceClasses<Operation *> connected;
    SmallVector<Operation *> members;
    for (Operation &op : block) {
      bool leaves = isExit(&op) && *levels.lookup(&op) + 1 == deepest;
      if (levels.lookup(&op) != deepest && !leaves)
        continue;
      members.push_back(&op);
      connected.insert(&op);
      if (isEntry(&op))
        continue; // what it takes is outside
      forEachUse(&op, [&](Value value) {
        if (isLocal(value))
          connected.unionSets(&op, value.getDefiningOp());
      });
    }
    Group group;
    for (Operation *op : members)
      if (connected.isEquivalent(op, members.front()))
        (isEntry(op) ? group.entries : isExit(op) ? group.exits : group.body).push_back(op);
    return group;
  }

  /// Axes that are manual in the region and not around it.
  std::optional<SmallVector<StringAttr>> axesOf(const Group &group) {
    std::optional<SmallVector<StringAttr>> found;
    auto consider = [&](stablehlo::CustomCallOp inside, stablehlo::CustomCallOp outside) {
      if (!inside || !outside)
        return false;
      SmallVector<StringAttr> axes = strings.manualAxes(inside), outer = strings.manualAxes(outside);
      llvm::erase_if(axes, [&](StringAttr axis) { return llvm::is_contained(outer, axis); });
      if (found && *found != axes)
        return false;
      found = axes;
      return true;
    };
    for (Operation *op : group.entries)
      if (!consider(cast<stablehlo::CustomCallOp>(op), annotationOf(op)))
        return std::nullopt;
    for (Operation *op : group.exits)
      if (!consider(annotationOf(op), cast<stablehlo::CustomCallOp>(op)))
        return std::nullopt;
    return found;
  }

  /// The sharding splits `global` along manual axes into `local`, and those come first.
  bool fits(sdy::TensorShardingAttr sharding, ArrayRef<StringAttr> axes, Type global, Type local) {
    auto whole = dyn_cast<RankedTensorType>(global), part = dyn_cast<RankedTensorType>(local);
    if (!sharding || !whole || !part || whole.getRank() != part.getRank() || sharding.getRank() != whole.getRank())
      return false;
    for (auto [dim, outside, inside] : llvm::zip_equal(sharding.getDimShardings(), whole.getShape(), part.getShape())) {
      int64_t parts = 1;
      bool free = false;
      for (sdy::AxisRefAttr axis : dim.getAxes()) {
        bool manual = llvm::any_of(axes, [&](StringAttr name) { return name.getValue() == axis.getName(); });
        if (manual && free)
          return false;
        free |= !manual;
        parts *= manual ? axis.getSize(strings.mesh) : 1;
      }
      if (inside * parts != outside)
        return false;
    }
    return true;
  }

  LogicalResult build(const Group &group) {
    auto axes = axesOf(group);
    if (!axes)
      return failure();
    // Behind everything that goes in, and before everything that uses what comes out.
    Operation *last = group.entries.empty() ? nullptr : group.entries.back();
    llvm::SetVector<Value> captured;
    llvm::SetVector<Operation *> copied;
    auto use = [&](Value value) {
      if (!levelOf(value))
        copied.insert(value.getDefiningOp());
      else if (!isLocal(value))
        captured.insert(value);
    };
    for (Operation *op : group.body)
      forEachUse(op, use);
    for (Operation *op : group.exits)
      use(op->getOperand(0));
    for (size_t i = 0; i < copied.size(); ++i) {
      if (!isMemoryEffectFree(copied[i]) && !isAlone(copied[i], group))
        return failure();
      forEachUse(copied[i], use);
    }
    for (Value value : captured)
      if (Operation *made = value.getDefiningOp(); made && made->getBlock() == &block && (!last || last->isBeforeInBlock(made)))
        last = made;
    if (!last)
      last = group.exits.front()->getPrevNode();
    for (Operation *op : group.exits)
      for (Operation *user : op->getUsers())
        if (Operation *here = block.findAncestorOpInBlock(*user); here && last && !last->isBeforeInBlock(here))
          return failure();

    SmallVector<Value> operands;
    SmallVector<sdy::TensorShardingAttr> in, out;
    SmallVector<Type> localTypes, results;
    for (Operation *op : group.entries) {
      stablehlo::CustomCallOp annotation = annotationOf(op);
      in.push_back(strings.sharding(annotation));
      operands.push_back(annotation->getOperand(0));
      localTypes.push_back(op->getResult(0).getType());
      if (!fits(in.back(), *axes, operands.back().getType(), localTypes.back()))
        return failure();
    }
    for (Value value : captured) {
      in.push_back(strings.whole(value.getType()));
      operands.push_back(value);
      localTypes.push_back(value.getType());
    }
    for (Operation *op : group.exits) {
      out.push_back(strings.sharding(cast<stablehlo::CustomCallOp>(op)));
      results.push_back(op->getResult(0).getType());
      if (!fits(out.back(), *axes, results.back(), op->getOperand(0).getType()))
        return failure();
    }

    OpBuilder builder(block.getParentOp()->getContext());
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&block);
    MLIRContext *context = builder.getContext();
    Location loc = (group.entries.empty() ? group.exits : group.entries).front()->getLoc();
    auto op = sdy::ManualComputationOp::create(builder, loc, results, operands, sdy::TensorShardingPerValueAttr::get(context, in),
                                               sdy::TensorShardingPerValueAttr::get(context, out),
                                               sdy::ManualAxesAttr::get(context, *axes));
    Block *body = builder.createBlock(&op.getBody(), {}, localTypes, SmallVector<Location>(localTypes.size(), loc));
    IRMapping copies;
    SmallVector<Operation *> inOrder(copied.begin(), copied.end());
    llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *each : inOrder)
      builder.clone(*each, copies);
    for (Operation *each : group.body)
      each->moveBefore(body, body->end());
    for (auto [entry, argument] : llvm::zip(group.entries, body->getArguments()))
      entry->getResult(0).replaceAllUsesWith(argument);
    auto isInside = [&](OpOperand &use) { return op->isProperAncestor(use.getOwner()); };
    for (auto [i, argument] : llvm::enumerate(body->getArguments().drop_front(group.entries.size())))
      Value(captured[i]).replaceUsesWithIf(argument, isInside);
    SmallVector<Value> returned;
    for (Operation *each : group.exits) {
      Value value = copies.lookupOrDefault(each->getOperand(0));
      auto position = llvm::find(captured, value);
      returned.push_back(position == captured.end() ? value
                                                    : body->getArgument(group.entries.size() + (position - captured.begin())));
    }
    for (Operation *each : inOrder)
      for (Value value : each->getResults())
        value.replaceUsesWithIf(copies.lookup(value), isInside);
    builder.setInsertionPointToEnd(body);
    sdy::ReturnOp::create(builder, loc, returned);
    for (auto [exit, result] : llvm::zip_equal(group.exits, op->getResults()))
      exit->getResult(0).replaceAllUsesWith(result);
    for (Operation *each : group.exits)
      each->erase();
    for (Operation *each : group.entries) {
      stablehlo::CustomCallOp annotation = annotationOf(each);
      each->erase();
      if (annotation->use_empty())
        annotation->erase(); // in_shardings say it
    }
    for (Operation *each : llvm::reverse(inOrder))
      if (each->use_empty())
        each->erase();
    return success();
  }

  /// Nothing but the group uses what the operation makes.
  bool isAlone(Operation *op, const Group &group) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return llvm::is_contained(group.body, here) || (here && !levels.lookup(here) && isAlone(here, group));
    });
  }

  Block &block;
  const ManualStrings &strings;
  llvm::DenseMap<Operation *, std::optional<int64_t>> levels; ///< none: depends on nothing
  int64_t deepest = 0;
};

} // namespace

LogicalResult makeManualComputations(ModuleOp module, const ManualStrings &strings) {
  llvm::SetVector<Block *> blocks;
  module.walk([&](Operation *op) {
    if (isEntry(op) || isExit(op))
      blocks.insert(op->getBlock());
  });
  for (Block *block : blocks)
    if (failed(BlockRegions(*block, strings).run()))
      return failure();
  return success();
}

} // namespace millrace::sharding

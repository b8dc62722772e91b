// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CombineCollectives.cpp - Many small sums in one message ------------===//
// Input:   %2 = all_reduce(%0) groups [[0, 1]] ; %3 = sine %2 ; %4 = all_reduce(%1) groups [[0, 1]]
// Output:  %2, %4 = all_reduce(%0, %1) groups [[0, 1]] ; %3 = sine %2
// Leaves alone sums of which one needs the other, other groups or computations, and what effects stand between.
#include "passes/spmd/Communication.h"
#include "passes/spmd/Passes.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_COMBINECOLLECTIVESPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// Members of a message to be.
struct Group {
  SmallVector<AllReduceOp> members;
  llvm::SmallPtrSet<Operation *, 16> dependents; ///< members, and what needs one of them
  int64_t bytes = 0;
  bool open = true;
};

int64_t bytesOfOperands(AllReduceOp op) {
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += bytesOf(type);
  return bytes;
}

/// One computation for all operands, the same groups, and the same element type for the computation.
bool fitTogether(AllReduceOp a, AllReduceOp b) {
  return a.getReplicaGroups() == b.getReplicaGroups() && a.getUseGlobalDeviceIds() == b.getUseGlobalDeviceIds() &&
         bool(a.getChannelHandle()) == bool(b.getChannelHandle()) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getComputation(), &b.getComputation(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// What must not change places with its like.
bool hasEffects(Operation &op) {
  return op
      .walk([](Operation *each) {
        return isa<CustomCallOp, InfeedOp, OutfeedOp, SendOp, RecvOp>(each) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool needs(Operation &op, const Group &group) {
  auto isDependent = [&](Value value) {
    Operation *definition = value.getDefiningOp();
    return definition && group.dependents.contains(definition);
  };
  if (llvm::any_of(op.getOperands(), isDependent))
    return true;
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  return llvm::any_of(captured, isDependent);
}

void combine(Group &group) {
  AllReduceOp last = group.members.back();
  OpBuilder builder(last);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (AllReduceOp member : group.members) {
    llvm::append_range(operands, member->getOperands());
    llvm::append_range(types, member->getResultTypes());
    locations.push_back(member.getLoc());
  }
  OperationState state(builder.getFusedLoc(locations), AllReduceOp::getOperationName(), operands, types);
  state.addAttributes(last->getAttrs());
  state.addRegion()->takeBody(last.getComputation());
  Operation *combined = builder.create(state);
  size_t next = 0;
  for (AllReduceOp member : group.members) {
    member->replaceAllUsesWith(combined->getResults().slice(next, member->getNumResults()));
    next += member->getNumResults();
    member->erase();
  }
}

struct CombineCollectives : impl::CombineCollectivesPassBase<CombineCollectives> {
  using CombineCollectivesPassBase::CombineCollectivesPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      visit(*block);
  }

  void visit(Block &block) {
    SmallVector<Group> groups;
    for (Operation &op : block) {
      auto sum = dyn_cast<AllReduceOp>(op);
      bool placed = false;
      for (Group &group : groups) {
        if (!group.open)
          continue;
        if (needs(op, group)) {
          group.dependents.insert(&op);
          group.open = !hasEffects(op);
        } else if (sum && !placed && fitTogether(group.members[0], sum) && group.bytes + bytesOfOperands(sum) <= maxBytes) {
          group.members.push_back(sum);
          group.dependents.insert(sum);
          group.bytes += bytesOfOperands(sum);
          placed = true;
        }
      }
      if (sum && !placed) {
        Group &group = groups.emplace_back();
        group.members.push_back(sum);
        group.dependents.insert(sum);
        group.bytes = bytesOfOperands(sum);
      }
    }
    bool changed = false;
    for (Group &group : groups)
      if (group.members.size() > 1) {
        combine(group);
        changed = true;
        // What is known of other groups names operations that are gone.
        break;
      }
    if (!changed)
      return;
    sortTopologically(&block);
    visit(block);
  }
};

} // namespace
} // namespace millrace::spmd

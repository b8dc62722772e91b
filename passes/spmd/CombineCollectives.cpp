// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CombineCollectives.cpp - Many small collectives in one message -----===//
// Input:   %2 = all_reduce(%0) groups [[0, 1]] ; %3 = sine %2 ; %4 = all_reduce(%1) groups [[0, 1]]
// Output:  %2, %4 = all_reduce(%0, %1) groups [[0, 1]] ; %3 = sine %2
//
// Input:   %2 = reduce_scatter(%0) : 8x3 -> 4x3 ; %3 = reduce_scatter(%1) : 2x5 -> 1x5
// Output:  %c = concatenate of reshapes to 2x12 and 2x5, dim = 1 ; %s = reduce_scatter(%c) : 2x17 -> 1x17 ; %2, %3 = reshapes of slices of %s
// Leaves alone collectives that depend on each other, other groups or computations, messages that are large enough, and collectives with side effects
// between them.
#include "passes/spmd/Communication.h"
#include "passes/spmd/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_COMBINECOLLECTIVESPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// The members of a combined message.
struct Group {
  SmallVector<Operation *> members;
  llvm::BitVector needs; ///< numbers of the messages that must precede this one
  int64_t bytes = 0;
  bool open = true;
};

/// Tracks which operations depend on which messages of a block while the messages grow, so that one visit of every operation suffices for all
/// messages.
class Messages {
public:
  SmallVector<Group> groups;

  /// Returns the messages that have a member on which `op` depends, directly or through other operations. The operands of `op` have been visited.
  llvm::BitVector neededBy(ArrayRef<Operation *> operands) const {
    llvm::BitVector direct = directly(operands), all = direct;
    for (unsigned number : direct.set_bits())
      all |= groups[number].needs;
    return all;
  }
  void saw(Operation *op, ArrayRef<Operation *> operands) {
    if (llvm::BitVector direct = directly(operands); direct.any())
      after[op] = std::move(direct);
  }
  /// Adds a member to message `number`. `needs` is neededBy() without `number`: from now on, every operation that depends on the message depends on
  /// these messages, too.
  void add(unsigned number, Operation *op, int64_t size, const llvm::BitVector &needs) {
    for (auto [other, group] : llvm::enumerate(groups))
      if (other == number || (number < group.needs.size() && group.needs.test(number)))
        group.needs |= needs;
    groups[number].members.push_back(op);
    groups[number].bytes += size;
    memberOf[op] = number;
  }

private:
  llvm::BitVector directly(ArrayRef<Operation *> operands) const {
    llvm::BitVector direct(groups.size());
    for (Operation *made : operands) {
      if (auto found = after.find(made); found != after.end())
        direct |= found->second;
      if (auto found = memberOf.find(made); found != memberOf.end())
        direct.set(found->second);
    }
    return direct;
  }

  /// Messages on which an operation depends directly; dependences through other messages may still grow.
  DenseMap<Operation *, llvm::BitVector> after;
  DenseMap<Operation *, unsigned> memberOf;
};

int64_t bytesOfAll(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += bytesOf(type);
  return bytes;
}

/// Returns the size of the message: the larger one of operands and results, in bytes.
int64_t bytesOfMessage(Operation *op) { return std::max(bytesOfAll(op->getOperandTypes()), bytesOfAll(op->getResultTypes())); }

/// Returns the number of devices of each group; 0 if groups have different sizes, or are not written out.
int64_t sizeOfGroups(Operation *op) {
  auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  auto type = groups ? dyn_cast<RankedTensorType>(groups.getType()) : RankedTensorType();
  return type && type.getRank() == 2 && !llvm::is_contained(groups.getValues<int64_t>(), -1) ? type.getDimSize(1) : 0;
}

/// Legality: shards are contiguous one after the other, so that a reshape turns them into rows.
bool isRowsOfParts(ReduceScatterOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getOperand().getType());
  return type && type.hasStaticShape() && sizeOfGroups(op) > 0 &&
         llvm::all_of(type.getShape().take_front(op.getScatterDimension()), [](int64_t size) { return size == 1; });
}

bool sameComputation(Operation *a, Operation *b) {
  return OperationEquivalence::isRegionEquivalentTo(&a->getRegion(0), &b->getRegion(0), OperationEquivalence::IgnoreLocations);
}

/// Returns true for a channel above 0, which means that partitions take part.
bool hasChannel(Operation *op) {
  auto channel = op->getAttrOfType<ChannelHandleAttr>("channel_handle");
  return channel && channel.getHandle() > 0;
}

/// Legality: both are one kind of operation, among the same groups, with one computation for all operands.
bool fitTogether(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || a->getAttr("replica_groups") != b->getAttr("replica_groups") ||
      a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary() ||
      hasChannel(a) != hasChannel(b) || a->getAttr("use_global_device_ids") != b->getAttr("use_global_device_ids"))
    return false;
  // A collective of HLO, as which jaxlib prints a program, and a concatenation have one element type.
  if (getElementTypeOrSelf(a->getOperand(0)) != getElementTypeOrSelf(b->getOperand(0)))
    return false;
  if (auto gather = dyn_cast<AllGatherOp>(a))
    return gather.getAllGatherDim() == cast<AllGatherOp>(b).getAllGatherDim();
  if (isa<AllToAllOp>(a))
    return llvm::all_of(llvm::ArrayRef<StringRef>{"split_dimension", "concat_dimension", "split_count"},
                        [&](StringRef name) { return a->getAttr(name) == b->getAttr(name); });
  return sameComputation(a, b);
}

/// Returns true for operations whose relative order must not change.
bool hasEffects(Operation &op) {
  return op
      .walk([](Operation *each) {
        return isa<CustomCallOp, InfeedOp, OutfeedOp, SendOp, RecvOp>(each) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the operations of the block on which `op` depends.
SmallVector<Operation *> needed(Operation &op) {
  SmallVector<Operation *> found;
  auto add = [&](Value value) {
    if (Operation *made = value.getDefiningOp())
      found.push_back(made);
  };
  llvm::for_each(op.getOperands(), add);
  if (op.getNumRegions()) {
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    llvm::for_each(captured, add);
  }
  return found;
}

/// Moves each operation's operands that are defined after it in front of it, and nothing else. A topological sort alone would also move every
/// operation that depends on arguments only in front of those that wait for a combined message: gathers of weights, too, that the end of the program
/// needs.
void sortKeepingPlaces(Block &block) {
  SmallVector<Operation *> order, open;
  llvm::DenseSet<Operation *> placed;
  for (Operation &op : block) {
    open.push_back(&op);
    while (!open.empty()) {
      Operation *next = open.back();
      if (placed.contains(next)) {
        open.pop_back();
        continue;
      }
      const size_t before = open.size();
      SmallVector<Operation *> operands = needed(*next);
      for (Operation *made : llvm::reverse(operands))
        if (made->getBlock() == &block && !placed.contains(made))
          open.push_back(made);
      if (open.size() != before)
        continue;
      placed.insert(next);
      order.push_back(next);
      open.pop_back();
    }
  }
  for (Operation *op : order)
    op->moveBefore(&block, block.end());
}

/// Replaces the members by one operation with the operands of all; it takes the operands of its computation from them, if it has one.
void combineOperands(ArrayRef<Operation *> members) {
  Operation *last = members.back();
  OpBuilder builder(last);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (Operation *member : members) {
    llvm::append_range(operands, member->getOperands());
    llvm::append_range(types, member->getResultTypes());
    locations.push_back(member->getLoc());
  }
  OperationState state(builder.getFusedLoc(locations), last->getName(), operands, types);
  state.addAttributes(last->getAttrs());
  if (last->getNumRegions())
    state.addRegion()->takeBody(last->getRegion(0));
  Operation *combined = builder.create(state);
  size_t next = 0;
  for (Operation *member : members) {
    member->replaceAllUsesWith(combined->getResults().slice(next, member->getNumResults()));
    next += member->getNumResults();
    member->erase();
  }
}

/// Combines the operands of reduce_scatter: one row per device with the shards of all members.
void combineRows(ArrayRef<Operation *> members) {
  auto last = cast<ReduceScatterOp>(members.back());
  OpBuilder builder(last);
  int64_t devices = sizeOfGroups(last), columns = 0;
  SmallVector<Value> rows;
  SmallVector<Location> locations;
  RankedTensorType type;
  for (Operation *member : members) {
    type = cast<RankedTensorType>(member->getOperand(0).getType());
    int64_t part = type.getNumElements() / devices;
    columns += part;
    rows.push_back(ReshapeOp::create(builder, member->getLoc(), type.clone({devices, part}), member->getOperand(0)));
    locations.push_back(member->getLoc());
  }
  Location loc = builder.getFusedLoc(locations);
  Value all = ConcatenateOp::create(builder, loc, type.clone({devices, columns}), rows, uint64_t(1));
  OperationState state(loc, last->getName(), {all}, {type.clone({int64_t(1), columns})});
  state.addAttributes(last->getAttrs());
  state.addRegion()->takeBody(last.getComputation());
  auto combined = cast<ReduceScatterOp>(builder.create(state));
  combined.setScatterDimension(0);
  int64_t begin = 0;
  for (Operation *member : members) {
    auto result = cast<RankedTensorType>(member->getResult(0).getType());
    int64_t end = begin + result.getNumElements();
    Value part = boxOf(builder, member->getLoc(), combined.getResult(), Box::along({1, columns}, 1, begin, end));
    member->getResult(0).replaceAllUsesWith(ReshapeOp::create(builder, member->getLoc(), result, part));
    member->erase();
    begin = end;
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

  /// Policy: returns the largest size of a message of its kind; 0 if nothing is combined.
  int64_t mostBytes(Operation *op) {
    if (isa<AllReduceOp>(op))
      return maxBytes;
    if (isa<AllGatherOp, AllToAllOp>(op))
      return maxGatherBytes;
    auto scatter = dyn_cast<ReduceScatterOp>(op);
    return scatter && isRowsOfParts(scatter) ? int64_t(maxScatterBytes) : 0;
  }

  void visit(Block &block) {
    Messages messages;
    for (Operation &op : block) {
      int64_t most = mostBytes(&op), size = most ? bytesOfMessage(&op) : 0;
      bool joins = most && size < most;
      if (!joins && messages.groups.empty())
        continue;
      SmallVector<Operation *> operands = needed(op);
      messages.saw(&op, operands);
      bool isEffect = hasEffects(op);
      if (!joins && !isEffect)
        continue;
      llvm::BitVector needs = messages.neededBy(operands);
      if (isEffect)
        for (unsigned number : needs.set_bits())
          messages.groups[number].open = false;
      if (!joins)
        continue;
      unsigned place = 0, count = messages.groups.size();
      for (; place < count; ++place)
        if (Group &group = messages.groups[place];
            group.open && !needs.test(place) && group.bytes + size <= most && fitTogether(group.members[0], &op))
          break;
      if (place == count)
        messages.groups.emplace_back();
      messages.add(place, &op, size, needs);
    }
    bool changed = false;
    for (Group &group : messages.groups) {
      if (group.members.size() < 2)
        continue;
      changed = true;
      if (isa<ReduceScatterOp>(group.members[0]))
        combineRows(group.members);
      else
        combineOperands(group.members);
    }
    if (changed)
      sortKeepingPlaces(block);
  }
};

} // namespace
} // namespace millrace::spmd

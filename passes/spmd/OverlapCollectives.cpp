// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OverlapCollectives.cpp - Work between start and end of a collective -===//
// Input:   %1 = f(%0) ; %2 = all_reduce(%0) ; %3 = g(%1) ; %4 = h(%2, %3)
// Output:  %s = async_start(%0) { all_reduce } ; %1 = f(%0) ; %3 = g(%1) ; %2 = async_done(%s) ; %4 = h(%2, %3)
// Leaves alone collectives of one device, those without independent work, and computations that capture values. The order in which collectives start
// is kept: where every process has its own program, it is how the participants are matched.
#include "passes/spmd/Communication.h"
#include "passes/spmd/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "passes/spmd/Passes.h.inc"

namespace {

double bytesOfAll(Operation *op) {
  double bytes = 0;
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      bytes += bytesOf(value.getType());
  return bytes;
}

/// Returns the bytes that the operation reads and writes; 0 for an operation that costs nothing, or waits for other devices.
double workOf(Operation *op) {
  if (fusion::isAlias(op) || isa<ConstantOp, AsyncStartOp, AsyncDoneOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      communicationOf(op))
    return 0;
  return bytesOfAll(op);
}

/// The operations before which the start and done halves go.
struct Places {
  Operation *start, *done;
};

/// Legality: only its operands and users constrain the position of a collective.
bool canSplit(Operation *collective) {
  if (isa<AsyncStartOp>(collective->getParentOp()) || collective->use_empty())
    return false;
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(collective->getRegions(), captured);
  return captured.empty();
}

/// Moves aliases of operands up and aliases of results down, so that they do not limit the overlap.
void moveRenamesAway(Operation *collective) {
  Block *block = collective->getBlock();
  for (Value operand : collective->getOperands())
    for (Operation *made = operand.getDefiningOp(); made && made->getBlock() == block && fusion::isAlias(made);) {
      Operation *before = nullptr;
      for (Value each : made->getOperands())
        if (Operation *source = each.getDefiningOp(); source && source->getBlock() == block && (!before || before->isBeforeInBlock(source)))
          before = source;
      if (before)
        made->moveAfter(before);
      else
        made->moveBefore(&block->front());
      made = before;
    }
  for (Operation *user : llvm::make_early_inc_range(collective->getUsers())) {
    if (user->getBlock() != block || !fusion::isAlias(user) || user->use_empty())
      continue;
    Operation *first = nullptr;
    for (Operation *next : user->getUsers())
      if (Operation *here = block->findAncestorOpInBlock(*next); here && (!first || here->isBeforeInBlock(first)))
        first = here;
    user->moveBefore(first);
  }
}

/// Policy: overlaps up to `budget` bytes of work, first operations after the collective, then operations before it. Returns nullopt if there are
/// none.
std::optional<Places> placesOf(Operation *collective, double budget) {
  Block *block = collective->getBlock();
  Operation *last = nullptr; // the last operation that defines an operand
  for (Value operand : collective->getOperands())
    if (Operation *made = operand.getDefiningOp(); made && made->getBlock() == block && (!last || last->isBeforeInBlock(made)))
      last = made;
  llvm::SmallPtrSet<Operation *, 8> users;
  for (Operation *user : collective->getUsers())
    users.insert(block->findAncestorOpInBlock(*user));
  // A later reader of an operand may update it in place, which then must not wait for the collective.
  for (Value operand : collective->getOperands())
    for (Operation *user : operand.getUsers())
      if (Operation *here = block->findAncestorOpInBlock(*user); here && here != collective)
        users.insert(here);
  double work = 0;
  Operation *done = collective->getNextNode();
  for (; work < budget && !users.contains(done) && !done->hasTrait<OpTrait::IsTerminator>(); done = done->getNextNode())
    work += workOf(done);
  Operation *start = collective;
  auto begins = [](Operation *op) { return isa<AsyncStartOp>(op) || (!isa<AsyncDoneOp>(op) && communicationOf(op)); };
  while (work < budget && start->getPrevNode() && start->getPrevNode() != last && !begins(start->getPrevNode())) {
    start = start->getPrevNode();
    work += workOf(start);
  }
  if (work == 0)
    return std::nullopt;
  return Places{start, done};
}

void split(Operation *collective, Places places) {
  OpBuilder builder(places.start);
  Location loc = collective->getLoc();
  OperationState state(loc, AsyncStartOp::getOperationName());
  state.addOperands(collective->getOperands());
  state.addTypes(FutureType::get(builder.getContext(), SmallVector<Type>(collective->getResultTypes())));
  state.addRegion();
  auto start = cast<AsyncStartOp>(builder.create(state));
  Block &body = start.getBody().emplaceBlock();
  for (Value operand : collective->getOperands())
    body.addArgument(operand.getType(), operand.getLoc());
  builder.setInsertionPoint(places.done);
  auto done = AsyncDoneOp::create(builder, loc, collective->getResultTypes(), start.getResult());
  collective->replaceAllUsesWith(done->getResults());
  collective->setOperands(body.getArguments());
  collective->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  ReturnOp::create(builder, loc, collective->getResults());
}

struct OverlapCollectives : impl::OverlapCollectivesPassBase<OverlapCollectives> {
  using OverlapCollectivesPassBase::OverlapCollectivesPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (std::optional<Cost> cost = communicationOf(op); cost && cost->devices > 1 && canSplit(op))
        collectives.push_back(op);
    });
    for (Operation *collective : collectives) {
      moveRenamesAway(collective);
      if (std::optional<Places> places = placesOf(collective, share * bytesOfAll(collective)))
        split(collective, *places);
    }
  }
};

} // namespace
} // namespace millrace::spmd

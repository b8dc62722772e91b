// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionRegions.cpp - Loops and branches --------------------------===//
#include "passes/spmd/Partitioner.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

/// Emits a loop. Carried values have the placement that propagation found, else that of their initial value. A value that is replicated initially
/// (zeros, say), but that the body computes in tiles, takes the tiles instead: the first attempt at the body finds that out, and is discarded.
LogicalResult Partitioner::emitWhile(WhileOp op) {
  Scope scope = scopeOf(*op);
  Location loc = op.getLoc();
  SmallVector<Placement> carried;
  SmallVector<bool> decided;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    auto wanted = wantedPlacement(result, scope);
    carried.push_back(wanted ? *wanted : shards[operand].placement);
    decided.push_back(wanted.has_value());
  }
  constexpr int attempts = 3;
  for (int attempt = 0;; ++attempt) {
    Operation *before = builder.getInsertionBlock()->empty() || builder.getInsertionPoint() == builder.getInsertionBlock()->begin()
                            ? nullptr
                            : &*std::prev(builder.getInsertionPoint());
    Resharder::Memory memory = resharder.memory();
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (auto [operand, placement] : llvm::zip_equal(op->getOperands(), carried)) {
      Shard shard = shards[operand];
      shard.scope = scope;
      inits.push_back(resharder.reshard(builder, loc, shard, placement));
      types.push_back(inits.back().getType());
    }
    OperationState state(loc, WhileOp::getOperationName(), inits, types);
    state.addRegion();
    state.addRegion();
    Operation *loop = builder.create(state);
    bool again = false;
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), loop->getRegions())) {
      OpBuilder::InsertionGuard guard(builder);
      Block *block = builder.createBlock(&to, {}, types, SmallVector<Location>(types.size(), loc));
      for (auto [argument, local, placement] : llvm::zip_equal(from.getArguments(), block->getArguments(), carried))
        bind(argument, local, placement, scope);
      SmallVector<Shard> returned;
      if (failed(emitBlock(from.front(), returned)))
        return failure();
      for (Shard &shard : returned)
        shard = combined(shard, loc);
      SmallVector<Value> values;
      if (&from == &op->getRegion(0)) {
        values.push_back(whole(returned[0], scope, loc));
      } else {
        for (auto [shard, placement, isDecided] : llvm::zip_equal(returned, carried, decided)) {
          if (attempt + 1 < attempts && !isDecided && isWhole(placement) && !isWhole(shard.placement)) {
            placement = shard.placement;
            again = true;
          }
          if (!again) {
            shard.scope = scope;
            values.push_back(resharder.reshard(builder, loc, shard, placement));
          }
        }
      }
      if (!again)
        ReturnOp::create(builder, from.front().getTerminator()->getLoc(), values);
    }
    if (!again) {
      for (auto [result, value, placement] : llvm::zip_equal(op->getResults(), loop->getResults(), carried))
        bind(result, value, placement, scope);
      return success();
    }
    // Discards the attempt, and the operations that it has put before the loop.
    resharder.setMemory(std::move(memory));
    loop->erase();
    Block *block = builder.getInsertionBlock();
    while (!block->empty()) {
      Operation *last = builder.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(builder.getInsertionPoint());
      if (!last || last == before)
        break;
      last->erase();
    }
  }
}

/// Emits branches. Results have the placement that propagation found, else that of the first branch.
LogicalResult Partitioner::emitBranches(Operation &op) {
  Scope scope = scopeOf(op);
  Location loc = op.getLoc();
  Value selector = whole(shards[op.getOperand(0)], scope, loc);
  OperationState state(loc, op.getName(), ValueRange{selector}, {});
  for (unsigned i = 0; i < op.getNumRegions(); ++i)
    state.addRegion();
  // The results' types are known after the first branch; build the branches in a placeholder's regions first.
  SmallVector<std::unique_ptr<Region>> regions;
  SmallVector<Placement> placements;
  SmallVector<Type> types;
  for (Region &from : op.getRegions()) {
    OpBuilder::InsertionGuard guard(builder);
    Region &to = *regions.emplace_back(std::make_unique<Region>());
    builder.createBlock(&to);
    SmallVector<Shard> returned;
    if (failed(emitBlock(from.front(), returned)))
      return failure();
    for (Shard &shard : returned)
      shard = combined(shard, loc);
    SmallVector<Value> values;
    for (auto [i, shard] : llvm::enumerate(returned)) {
      if (&from == &op.getRegion(0)) {
        auto wanted = wantedPlacement(op.getResult(i), scope);
        placements.push_back(wanted ? *wanted : shard.placement);
      }
      shard.scope = scope;
      values.push_back(resharder.reshard(builder, loc, shard, placements[i]));
      if (&from == &op.getRegion(0))
        types.push_back(values.back().getType());
    }
    ReturnOp::create(builder, from.front().getTerminator()->getLoc(), values);
  }
  state.addTypes(types);
  Operation *local = builder.create(state);
  for (auto [region, built] : llvm::zip_equal(local->getRegions(), regions))
    region.takeBody(*built);
  for (auto [result, value, placement] : llvm::zip_equal(op.getResults(), local->getResults(), placements))
    bind(result, value, placement, scope);
  return success();
}

} // namespace millrace::spmd

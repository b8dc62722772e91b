// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionOps.cpp - Blocks, operations by rule, collectives ---------===//
#include "passes/spmd/Combiners.h"
#include "passes/spmd/Communication.h"
#include "passes/spmd/Partitioner.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

Placement Partitioner::wholeOf(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return Placement(tensor ? tensor.getRank() : 0);
}

/// Returns the smallest groups among those of the operands: a value of a larger group is the same in all smaller ones.
Scope Partitioner::scopeOf(Operation &op) {
  Scope scope = currentScope;
  for (Value operand : op.getOperands())
    if (shards[operand].scope.count > scope.count)
      scope = shards[operand].scope;
  return scope;
}

void Partitioner::bind(Value global, Value local, Placement placement, Scope scope) {
  shards[global] = shardOf(global.getType(), local, std::move(placement), std::move(scope));
}

Value Partitioner::whole(const Shard &shard, const Scope &scope, Location loc) {
  Shard here = shard;
  here.scope = scope;
  return resharder.reshard(builder, loc, here, Placement(shard.placement.size()));
}

LogicalResult Partitioner::emitBlock(Block &block, SmallVectorImpl<Shard> &returned) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(op)))
      return failure();
  for (Value value : block.getTerminator()->getOperands())
    returned.push_back(shards[value]);
  return success();
}

/// Most operations need the values themselves, of which unreduced operands are only summands.
LogicalResult Partitioner::emitOp(Operation &op) {
  if (isa<sdy::SdyDialect>(op.getDialect()) || passedOn(op))
    return emitKnown(op);
  SmallVector<std::pair<Value, Shard>, 0> apart;
  for (Value operand : op.getOperands())
    if (shards[operand].pending) {
      apart.push_back({operand, shards[operand]});
      shards[operand] = combined(shards[operand], op.getLoc());
    }
  LogicalResult result = emitKnown(op);
  for (auto &[value, shard] : apart) // the sum may be in a region that other operations do not see
    shards[value] = shard;
  return result;
}

/// Applies the annotation of an operation that is otherwise the identity.
LogicalResult Partitioner::constrain(Operation &op, sdy::TensorShardingAttr sharding) {
  Value operand = op.getOperand(0);
  auto target = targetOf(sharding, op.getResult(0).getType(), &op, shards[operand].scope);
  if (failed(target))
    return failure();
  bool wasApart = shards[operand].pending && !shards[operand].pending->isEqual;
  Shard shard = mergeSum(shards[operand], *target, op.getLoc());
  Placement chosen = choose(shard, *target, &op);
  bool isFresh = wasApart && !shard.pending;
  shard.value = resharder.reshard(builder, op.getLoc(), shard, chosen, isFresh || isUsedOnce(operand));
  shard.placement = chosen;
  shards[op.getResult(0)] = splitSum(shard, *target, op.getLoc());
  return success();
}

LogicalResult Partitioner::emitKnown(Operation &op) {
  for (Type type : op.getResultTypes())
    if (auto tensor = dyn_cast<ShapedType>(type); tensor && !tensor.hasStaticShape())
      return op.emitError("UNIMPLEMENTED: partitioning of dynamic shapes: ") << type;
  auto identity = [&](Value operand, Value result) {
    Shard shard = shards[operand];
    shards[result] = shard;
    return success();
  };
  if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op))
    return constrain(op, op.getAttrOfType<sdy::TensorShardingAttr>("sharding"));
  if (isa<sdy::AllGatherOp, sdy::AllSliceOp, sdy::AllToAllOp, sdy::CollectivePermuteOp, sdy::AllReduceOp, sdy::ReduceScatterOp,
          sdy::ReplicatedToUnreducedOp, sdy::ShardedToUnreducedOp>(op))
    return constrain(op, op.getAttrOfType<sdy::TensorShardingAttr>("out_sharding"));
  if (isa<sdy::PropagationBarrierOp, sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp>(op))
    return identity(op.getOperand(0), op.getResult(0));
  if (isa<sdy::ShardingGroupOp>(op))
    return success();
  if (auto constant = dyn_cast<sdy::ConstantOp>(op)) {
    Value value = ConstantOp::create(builder, op.getLoc(), constant.getType(), constant.getValue());
    bind(constant.getResult(), value, wholeOf(constant.getType()), currentScope);
    if (auto wanted = wantedPlacement(cast<OpResult>(constant.getResult()), currentScope))
      bind(constant.getResult(), resharder.reshard(builder, op.getLoc(), shards[constant.getResult()], *wanted), *wanted, currentScope);
    return success();
  }
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return emitManual(manual);
  if (auto named = dyn_cast<sdy::NamedComputationOp>(op)) {
    for (auto [argument, operand] : llvm::zip_equal(named.getBody().getArguments(), named->getOperands()))
      (void)identity(operand, argument);
    SmallVector<Shard> returned;
    if (failed(emitBlock(named.getBody().front(), returned)))
      return failure();
    for (auto [result, shard] : llvm::zip_equal(named->getResults(), returned))
      shards[result] = shard;
    return success();
  }
  if (isa<sdy::SdyDialect>(op.getDialect()))
    return op.emitError("UNIMPLEMENTED: partitioning of ") << op.getName();
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    LogicalResult result = success();
    if (emitShardingCall(call, result))
      return result;
    if (call.getCallTargetName() == "InspectSharding") {
      // A client inspects the sharding; it is stored on the call, see partition().
      const Shard shard = shards[op.getOperand(0)];
      Operation *local = emitLocal(op, {shard.value}, {shard.placement});
      local->setAttr("mhlo.sharding", builder.getStringAttr(toString(describe(shard.placement, numDevices))));
      bind(op.getResult(0), local->getResult(0), shard.placement, shard.scope);
      return success();
    }
    if (options.calls && options.calls->knows(call.getCallTargetName()))
      return emitPartitionedCall(call);
    if (std::optional<int64_t> device = onlyDevice(call); device && scopeOf(op).count == 1 && numDevices > 1)
      return emitOnDevice(call, *device);
  }
  if (auto loop = dyn_cast<WhileOp>(op))
    return emitWhile(loop);
  if (isa<IfOp, CaseOp>(op))
    return emitBranches(op);
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectivePermuteOp, CollectiveBroadcastOp,
          CollectiveReduceOp>(op))
    return emitCollective(op);
  if (isa<OptimizationBarrierOp>(op)) {
    SmallVector<Value> operands;
    SmallVector<Placement> placements;
    for (Value operand : op.getOperands()) {
      operands.push_back(shards[operand].value);
      placements.push_back(shards[operand].placement);
    }
    Scope scope = scopeOf(op);
    Operation *local = emitLocal(op, operands, placements);
    for (auto [result, value, placement] : llvm::zip_equal(op.getResults(), local->getResults(), placements))
      bind(result, value, placement, scope);
    return success();
  }
  // The random numbers of the first device are those of a program for one device.
  if (isa<RngOp>(op) && scopeOf(op).count == 1) {
    auto operands = llvm::map_to_vector(op.getOperands(), [&](Value each) { return whole(shards[each], currentScope, op.getLoc()); });
    Value drawn = emitLocal(op, operands, {wholeOf(op.getResult(0).getType())})->getResult(0);
    bind(op.getResult(0), resharder.broadcast(builder, op.getLoc(), drawn, 0), wholeOf(op.getResult(0).getType()), currentScope);
    return success();
  }
  // Every device would generate its own random numbers, or read its own input, for one value.
  if (isa<RngOp, InfeedOp, OutfeedOp, SendOp, RecvOp>(op) && scopeOf(op).count != numDevices)
    return op.emitError("UNIMPLEMENTED: partitioning of ") << op.getName() << " outside of a manual computation";
  return emitByRule(op);
}

//===-- Operations by rule ------------------------------------------------===//

/// Removes sharding annotations of computations on scalars inside an operation, which have nothing to shard.
static void dropConstraints(Operation &local) {
  for (Region &region : local.getRegions())
    region.walk([](Operation *inner) {
      inner->removeDiscardableAttr(sdy::shardingAttrName);
      auto call = dyn_cast<CustomCallOp>(inner);
      if (!isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(inner) && !(call && call.getCallTargetName() == "Sharding"))
        return;
      inner->replaceAllUsesWith(inner->getOperands());
      inner->erase();
    });
}

Operation *Partitioner::emitLocal(Operation &op, ValueRange operands, ArrayRef<Placement> results) {
  IRMapping mapping;
  // Values that the regions read from outside.
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  Scope scope = scopeOf(op);
  for (Value value : captured)
    if (shards.contains(value))
      mapping.map(value, whole(combined(shards[value], op.getLoc()), scope, op.getLoc()));
  for (auto [operand, local] : llvm::zip_equal(op.getOperands(), operands))
    if (!mapping.contains(operand))
      mapping.map(operand, local);
  Operation *local = builder.clone(op, mapping);
  local->setOperands(operands); // one value may be an operand in two placements
  dropConstraints(*local);
  for (auto [result, type, placement] : llvm::zip_equal(local->getResults(), op.getResultTypes(), results))
    result.setType(localType(type, placement));
  for (StringRef name : {"mhlo.sharding", "sdy.sharding", "sdy.sharding_rule"})
    local->removeDiscardableAttr(name);
  localizeAttributes(local);
  return local;
}

/// Chooses tiles for every factor among those of the operands and the wanted ones of the results, preferring tiles that keep the most bytes in place.
SmallVector<std::optional<Tiles>> Partitioner::assign(Operation &op, const SplitRule &split, const Scope &scope,
                                                      ArrayRef<std::optional<Placement>> wanted) {
  const sharding::Rule &rule = split.rule;
  struct Candidate {
    int factor;
    Tiles tiles;
    int64_t bytes = 0;
  };
  SmallVector<Candidate> candidates;
  auto consider = [&](const Placement &placement, const sharding::TensorFactors &dims, Type type) {
    for (auto &[factor, tiles] : tilesOfFactors(placement, dims, rule.factors)) {
      auto *same = llvm::find_if(candidates, [&, factor = factor, &tiles = tiles](const Candidate &other) {
        return other.factor == factor && other.tiles == tiles;
      });
      if (same == candidates.end())
        same = &candidates.emplace_back(Candidate{factor, tiles});
      same->bytes += bytesOf(type);
    }
  };
  for (auto [operand, dims] : llvm::zip_equal(op.getOperands(), rule.operands))
    consider(shards[operand].placement, dims, operand.getType());
  for (auto [result, dims, placement] : llvm::zip_equal(op.getResults(), rule.results, wanted))
    if (placement)
      consider(*placement, dims, result.getType());
  // A dimension that must be whole need not be gathered if another one can be sharded instead in every operand and result.
  if (isa<SortOp, FftOp, CholeskyOp, TriangularSolveOp>(op))
    for (const Candidate &blocked : SmallVector<Candidate>(candidates)) {
      if (split.splittable[blocked.factor])
        continue;
      for (size_t factor = 0; factor < rule.factors.size(); ++factor) {
        bool isFree = split.splittable[factor] && divides(blocked.tiles, rule.factors[factor].size) &&
                      llvm::none_of(candidates, [&](const Candidate &other) { return size_t(other.factor) == factor; });
        if (!isFree)
          continue;
        candidates.push_back({int(factor), blocked.tiles, 0});
        break;
      }
    }
  // Candidates without later communication come first.
  llvm::stable_sort(candidates, [&](const Candidate &a, const Candidate &b) {
    auto key = [&](const Candidate &each) { return std::tuple(each.bytes, !split.isReduced(each.factor)); };
    return key(a) > key(b);
  });
  SmallVector<std::optional<Tiles>> assigned(rule.factors.size());
  auto isPossible = [&]() {
    SmallVector<const Tiles *> pointers, all;
    for (const std::optional<Tiles> &tiles : assigned) {
      pointers.push_back(tiles ? &*tiles : nullptr);
      if (tiles)
        all.push_back(&*tiles);
    }
    if (!isUniform(all, scope))
      return false;
    for (auto *side : {&rule.operands, &rule.results})
      for (const sharding::TensorFactors &dims : *side)
        if (!placementOfFactors(dims, rule.factors, pointers))
          return false;
    return true;
  };
  for (const Candidate &candidate : candidates) {
    std::optional<Tiles> &place = assigned[candidate.factor];
    if (place || !split.splittable[candidate.factor] ||
        (!divides(candidate.tiles, rule.factors[candidate.factor].size) && !split.canFillUp[candidate.factor]))
      continue;
    place = candidate.tiles;
    if (!isPossible())
      place.reset();
  }
  return assigned;
}

/// Replaces the padding of the last tiles of reduced dimensions by the neutral element.
void Partitioner::clearFilling(Operation &op, MutableArrayRef<Shard> operands, const SplitRule &split,
                               ArrayRef<const Tiles *> assigned, Operation *combiner, ValueRange inits) {
  for (auto [i, shard] : llvm::enumerate(operands))
    for (auto [dim, factors] : llvm::enumerate(split.rule.operands[i])) {
      const Tiles &tiles = shard.placement[dim];
      if (divides(tiles, shard.shape[dim]) ||
          !llvm::any_of(factors, [&](int factor) { return assigned[factor] && split.isReduced(factor); }))
        continue;
      SmallVector<int64_t> begins(numDevices, 0), ends;
      int64_t tile = tileSize(shard.shape[dim], tiles);
      for (int64_t device = 0; device < numDevices; ++device)
        ends.push_back(std::clamp<int64_t>(shard.shape[dim] - tiles.at(device) * tile, 0, tile));
      auto scalar = RankedTensorType::get({}, cast<RankedTensorType>(shard.value.getType()).getElementType());
      // Updates that pad the last tiles get indices out of bounds, and are dropped.
      bool isIndex = isa<ScatterOp>(op) && i == 1;
      Value fill = isIndex ? Value(stablehlo::ConstantOp::create(
                                 builder, op.getLoc(), DenseElementsAttr::get(scalar, APInt::getAllOnes(scalar.getElementTypeBitWidth()))))
                   : inits.empty() ? Value(stablehlo::ConstantOp::create(
                                       builder, op.getLoc(), combiner ? ElementsAttr(neutralElement(combiner, scalar)) : zerosOf(scalar)))
                                 : operands[inits.size() + i].value;
      shard.value = resharder.keep(builder, op.getLoc(), shard.value, dim, begins, ends, fill);
    }
}

/// Gathers the devices' partial results and reduces them once more. For computations whose neutral element only the program knows: initial values are
/// neutral, so that any number of them may be combined.
SmallVector<Value> Partitioner::reduceAgain(ReduceOp op, ValueRange partial, const ReplicaGroups &groups) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  for (Value value : partial) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, type.getShape());
    operands.push_back(resharder.gatherAlong(builder, loc, ReshapeOp::create(builder, loc, type.clone(shape), value), 0, groups));
  }
  SmallVector<Type> types = llvm::to_vector(ValueRange(partial).getTypes());
  for (Value init : op.getInitValues())
    operands.push_back(whole(shards[init], currentScope, loc));
  OperationState state(loc, ReduceOp::getOperationName(), operands, types);
  state.addAttribute("dimensions", builder.getDenseI64ArrayAttr({0}));
  Region *body = state.addRegion();
  IRMapping mapping;
  op.getBody().cloneInto(body, mapping);
  Operation *reduced = builder.create(state);
  dropConstraints(*reduced);
  return reduced->getResults();
}

/// Restricts quantized values to sharding along dimensions whose elements are independent: partial sums would be rounded twice, and the padding is no
/// zero. Values with per-axis scales are not sharded.
static void restrictQuantized(Operation &op, SplitRule &split) {
  auto any = [&](auto kind) {
    auto has = [&](Type type) { return kind(getElementTypeOrSelf(type)); };
    return llvm::any_of(op.getOperandTypes(), has) || llvm::any_of(op.getResultTypes(), has);
  };
  if (!any([](Type element) { return isa<quant::QuantizedType>(element); }))
    return;
  bool isPerAxis = any([](Type element) { return isa<quant::UniformQuantizedPerAxisType, quant::UniformQuantizedSubChannelType>(element); });
  for (size_t factor = 0; factor < split.rule.factors.size(); ++factor)
    if (isPerAxis || split.isReduced(factor) || split.moving[factor])
      split.splittable[factor] = false;
}

LogicalResult Partitioner::emitByRule(Operation &op) {
  SplitRule split = splitRuleOf(&op);
  restrictQuantized(op, split);
  const sharding::Rule &rule = split.rule;
  Scope scope = scopeOf(op);
  std::optional<Pending> pending = passedOn(op);
  auto reduce = dyn_cast<ReduceOp>(op);
  auto scatter = dyn_cast<ScatterOp>(op);
  Operation *combiner = reduce ? combinerOf(reduce) : combinerOf(scatter);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  if (reduce && !combiner && !captured.empty())
    for (size_t factor = 0; factor < rule.factors.size(); ++factor)
      split.splittable[factor] = split.splittable[factor] && !split.isReduced(factor);
  SmallVector<std::optional<Placement>> wanted;
  for (OpResult result : op.getResults())
    wanted.push_back(wantedPlacement(result, scope));
  SmallVector<std::optional<Tiles>> assigned = assign(op, split, scope, wanted);
  SmallVector<const Tiles *> pointers;
  for (const std::optional<Tiles> &tiles : assigned)
    pointers.push_back(tiles ? &*tiles : nullptr);

  // `brought` are the operands in their new placements. Where elements move, a replicated operand stays replicated.
  SmallVector<Shard> brought;
  for (auto [operand, dims] : llvm::zip_equal(op.getOperands(), rule.operands)) {
    Shard shard = shards[operand];
    shard.scope = scope;
    Placement placement = *placementOfFactors(dims, rule.factors, pointers);
    for (auto [tiles, had, factors] : llvm::zip_equal(placement, shard.placement, dims))
      if (had.isWhole() && llvm::any_of(factors, [&](int factor) { return split.moving[factor]; }))
        tiles = Tiles();
    shard.value = resharder.reshard(builder, op.getLoc(), shard, placement, isUsedOnce(operand));
    shard.placement = placement;
    brought.push_back(shard);
  }
  SmallVector<Placement> results;
  for (const sharding::TensorFactors &dims : rule.results)
    results.push_back(*placementOfFactors(dims, rule.factors, pointers));
  SmallVector<const Tiles *> kept, summed;
  for (auto [factor, tiles] : llvm::enumerate(pointers))
    if (tiles)
      (split.isReduced(factor) ? summed : kept).push_back(tiles);
  if (!isa<GatherOp>(op)) // a gather reads no element of the padding
    clearFilling(op, brought, split, pointers, combiner, reduce && !combiner ? reduce.getInitValues() : ValueRange());
  SmallVector<Value> operands = llvm::map_to_vector(brought, [](const Shard &shard) { return shard.value; });
  Value init;
  if (!summed.empty() && scatter)
    operands[0] = startOfSum(scatter, operands[0], groupsFor(kept, summed, scope));
  if (!summed.empty() && reduce && combiner) {
    // Each device starts from the neutral element; the initial value joins once, after the all-reduce.
    init = operands.back();
    operands.back() = stablehlo::ConstantOp::create(
        builder, op.getLoc(), neutralElement(combiner, cast<RankedTensorType>(init.getType())));
  }
  Value inside;
  if (op.getNumOperands() > 0) {
    Placement first = *placementOfFactors(rule.operands[0], rule.factors, pointers);
    if (auto gather = dyn_cast<GatherOp>(op))
      inside = localizeGather(gather, operands, first);
    if (scatter)
      localizeScatter(scatter, operands, first);
  }
  bool moves = llvm::any_of(llvm::enumerate(pointers), [&](auto each) { return each.value() && split.moving[each.index()]; });
  SmallVector<Value> values;
  if (moves)
    values = emitMoved(op, brought, results);
  else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op); update && !localizeUpdate(update, operands, results[0]))
    values = {emitUpdate(update, operands, results[0])};
  else
    values = emitLocal(op, operands, results)->getResults();
  if (inside)
    values[0] = maskGather(cast<GatherOp>(op), values[0], inside);
  bool isSum = !summed.empty();
  if (isSum) {
    ReplicaGroups groups = groupsFor(kept, summed, scope);
    auto unreduced = pending ? std::nullopt : wantedPending(op);
    if (unreduced && staysApart(*unreduced, combiner, groups, kept, scope) && (!scatter || combiner) &&
        (!reduce || (combiner && isNeutral(init, combiner)))) {
      isSum = false;
      pending = unreduced;
      pending->whole = scope;
      scope = scope.splitBy(pending->parts.of);
    } else if (reduce && !combiner) {
      isSum = false;
      values = reduceAgain(reduce, values, groups);
    } else if (scatter) {
      values[0] = resharder.allReduce(builder, op.getLoc(), values[0], groups, scatter.getUpdateComputation());
    } else if (!reduce) {
      values[0] = resharder.allReduce(builder, op.getLoc(), values[0], groups);
    } else {
      values[0] = resharder.allReduce(builder, op.getLoc(), values[0], groups, reduce.getBody());
      if (!isNeutral(init, combiner)) {
        // If devices keep shards, the initial value is added to shards.
        if (wanted[0] && *wanted[0] != results[0]) {
          values[0] = resharder.reshard(builder, op.getLoc(), shardOf(op.getResult(0).getType(), values[0], results[0], scope),
                                        *wanted[0], true);
          results[0] = *wanted[0];
        }
        auto type = cast<RankedTensorType>(values[0].getType());
        Value start = BroadcastInDimOp::create(builder, op.getLoc(), type, init, builder.getDenseI64ArrayAttr({}));
        OperationState state(op.getLoc(), combiner->getName(), {values[0], start}, {type});
        values[0] = builder.create(state)->getResult(0);
      }
    }
  }
  for (auto [result, value, placement, target] : llvm::zip_equal(op.getResults(), values, results, wanted)) {
    bind(result, value, placement, scope);
    // A sum without other users is scattered.
    if (target && *target != placement)
      bind(result, resharder.reshard(builder, op.getLoc(), shards[result], *target, isSum), *target, scope);
    shards[result].pending = pending;
  }
  return success();
}

//===-- Collectives that the program itself contains ----------------------===//

LogicalResult Partitioner::emitCollective(Operation &op) {
  Scope scope = scopeOf(op);
  DenseIntElementsAttr groups = op.getAttrOfType<DenseIntElementsAttr>(
      isa<CollectivePermuteOp>(op) ? "source_target_pairs" : "replica_groups");
  // A dimension may stay sharded along axes that do not concern the operation: all members of a group then hold the same tile.
  auto partnersAgree = [&](const Tiles &tiles) {
    auto type = groups ? dyn_cast<RankedTensorType>(groups.getType()) : RankedTensorType();
    if (!type || type.getRank() != 2)
      return false;
    SmallVector<int64_t> ids(groups.getValues<int64_t>());
    int64_t columns = type.getDimSize(1);
    for (size_t i = 0; i < ids.size(); ++i) {
      int64_t first = ids[i / columns * columns];
      if (ids[i] >= numDevices || first >= numDevices)
        return false;
      if (ids[i] >= 0 && first >= 0 && tiles.at(ids[i]) != tiles.at(first))
        return false;
    }
    return true;
  };
  SmallVector<int64_t> touched;
  if (auto gather = dyn_cast<AllGatherOp>(op))
    touched = {int64_t(gather.getAllGatherDim())};
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    touched = {int64_t(scatter.getScatterDimension())};
  if (auto exchange = dyn_cast<AllToAllOp>(op))
    touched = {int64_t(exchange.getSplitDimension()), int64_t(exchange.getConcatDimension())};
  SmallVector<Value> operands;
  SmallVector<Placement> placements;
  for (Value operand : op.getOperands()) {
    Shard shard = shards[operand];
    shard.scope = scope;
    Placement placement = shard.placement;
    for (auto [dim, tiles] : llvm::enumerate(placement))
      if (!tiles.isWhole() && (llvm::is_contained(touched, int64_t(dim)) || !partnersAgree(tiles)))
        tiles = Tiles();
    operands.push_back(resharder.reshard(builder, op.getLoc(), shard, placement));
    placements.push_back(placement);
  }
  if (op.getNumResults() != op.getNumOperands())
    return op.emitError("UNIMPLEMENTED: partitioning of a collective whose results are not its operands'");
  Operation *local = emitLocal(op, operands, placements);
  for (auto [result, value, placement] : llvm::zip_equal(op.getResults(), local->getResults(), placements))
    bind(result, value, placement, scope);
  return success();
}

} // namespace millrace::spmd

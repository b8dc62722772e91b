// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InsertExplicitReshards.cpp - Every change of sharding is an operation -===//
// Input:   %2 = stablehlo.dot %0, %1 {[{"x"}, {}]}        // %0 [{"x"}, {}], %1 [{}, {"x"}]
// Output:  %r = sdy.reshard %1 <@mesh, [{}, {}]> ; %2 = stablehlo.dot %0, %r {[{"x"}, {}]}
// Leaves alone operations whose operands and results go together, and those without a rule.
#include "passes/sharding/propagation/Assign.h"
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/reshard/PartialReshards.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/rules/StrictRules.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_INSERTEXPLICITRESHARDSPASS
#define GEN_PASS_DEF_TEMPEXPLICITRESHARDSFOROPTIMIZATIONSPASS
#include "passes/sharding/Passes.h.inc"

namespace {

/// The same axes on the same dimensions of the same mesh; no sharding is one without axes.
bool isSame(sdy::TensorShardingAttr a, sdy::TensorShardingAttr b) {
  auto axes = [](sdy::TensorShardingAttr sharding) {
    SmallVector<ArrayRef<sdy::AxisRefAttr>> result;
    bool any = false;
    if (sharding)
      for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
        result.push_back(dim.getAxes());
        any |= !dim.getAxes().empty();
      }
    return any ? result : SmallVector<ArrayRef<sdy::AxisRefAttr>>();
  };
  return axes(a) == axes(b) && (axes(a).empty() || a.getMeshOrRef() == b.getMeshOrRef());
}

class Inserter {
public:
  /// `everywhere`: else only what PartialReshards.h does, and at concatenations.
  Inserter(func::FuncOp function, bool everywhere, bool markPartial, bool avoidCalls)
      : function(function), builder(function.getContext()), everywhere(everywhere), markPartial(markPartial), avoidCalls(avoidCalls) {}

  void run() {
    SmallVector<Operation *> ops;
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (auto call = dyn_cast<func::CallOp>(op); call && !avoidCalls)
        matchArguments(call);
      reduceOperands(op, shardingInRegion);
      if (everywhere)
        visit(op);
      else if (isa<stablehlo::ConcatenateOp>(op))
        visit(op, *ruleOf(op));
      else
        moveProduct(op, shardingInRegion);
    }
  }

private:
  /// `early`: where the value is made, instead of where it is used.
  void reshardUse(OpOperand &use, sdy::TensorShardingAttr wanted, Attribute mesh, bool early = false) {
    sdy::TensorShardingAttr now = shardingInRegion(use.get());
    auto shaped = dyn_cast<RankedTensorType>(use.get().getType());
    if (!shaped || isSame(now, wanted))
      return;
    if (!wanted) {
      auto closed = sdy::DimensionShardingAttr::get(builder.getContext(), {}, true, std::nullopt);
      wanted = sdy::TensorShardingAttr::get(builder.getContext(), mesh,
                                            SmallVector<sdy::DimensionShardingAttr>(shaped.getRank(), closed));
    }
    if (early)
      builder.setInsertionPointAfterValue(use.get());
    else
      builder.setInsertionPoint(use.getOwner());
    use.set(sdy::ReshardOp::create(builder, use.get().getLoc(), use.get().getType(), use.get(), wanted));
  }

  /// Reshards operands to the shardings of the callee's arguments. A value that is resharded for it has that sharding from its definition on.
  void matchArguments(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    for (OpOperand &operand : call->getOpOperands()) {
      auto shaped = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!callee || !shaped)
        continue;
      sdy::TensorShardingAttr now = shardingInRegion(operand.get());
      auto wanted = callee.getArgAttrOfType<sdy::TensorShardingAttr>(operand.getOperandNumber(), sdy::shardingAttrName);
      if (isSame(now, wanted))
        continue;
      builder.setInsertionPointAfterValue(operand.get());
      operand.set(sdy::ReshardOp::create(builder, operand.get().getLoc(), shaped, operand.get(), wanted ? wanted : closedLike(now)));
    }
  }

  void visit(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        match(operand, function.getResultAttrOfType<sdy::TensorShardingAttr>(operand.getOperandNumber(), sdy::shardingAttrName));
      return;
    }
    if (isa<sdy::ReshardOp, sdy::ShardingConstraintOp, sdy::DataFlowEdgeOp, sdy::ShardingGroupOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      Value owner = edgeOwner(operand);
      if (!owner || (avoidCalls && isa<sdy::NamedComputationOp>(op)))
        continue;
      if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
        match(operand, manual.getInShardings().getShardings()[operand.getOperandNumber()], /*early=*/true);
      else if (auto around = dyn_cast_or_null<sdy::ManualComputationOp>(owner.getDefiningOp()))
        match(operand, withoutManual(around, around.getOutShardings().getShardings()[operand.getOperandNumber()]), /*early=*/true);
      else
        match(operand, shardingInRegion(owner), /*early=*/true);
    }
    if (isOnOneDevice(op)) {
      // Every device runs it, and one is believed.
      for (OpOperand &operand : op->getOpOperands())
        if (sdy::TensorShardingAttr now = shardingInRegion(operand.get()); now && !isSame(now, {}))
          reshardUse(operand, {}, now.getMeshOrRef());
      return;
    }
    if (auto rule = strictRuleOf(op))
      visit(op, *rule);
  }

  static bool isOnOneDevice(Operation *op) {
    auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
    return list && llvm::any_of(list.getShardings(), [&](sdy::TensorShardingAttr sharding) {
             sdy::MeshAttr mesh = sharding.getMesh(op);
             return mesh && mesh.isMaximal();
           });
  }

  void match(OpOperand &operand, sdy::TensorShardingAttr wanted, bool early = false) {
    sdy::TensorShardingAttr now = shardingInRegion(operand.get());
    if (now || wanted)
      reshardUse(operand, wanted, now ? now.getMeshOrRef() : wanted.getMeshOrRef(), early);
  }

  /// A factor that shares a dimension with others is sharded evenly, and only if those before it are sharded completely: otherwise its shards are no
  /// shards of the dimension. Axes that one tensor cannot have, none gets.
  static void keepWholeParts(const Rule &rule, MutableArrayRef<Axes> assigned) {
    SmallVector<const DimFactors *> shared;
    for (auto *side : {&rule.operands, &rule.results})
      for (const TensorFactors &tensor : *side)
        for (const DimFactors &dim : tensor)
          if (llvm::count_if(dim, [&](int factor) { return rule.factors[factor].size > 1; }) > 1)
            shared.push_back(&dim);
    for (bool changed = true; changed;) {
      changed = false;
      for (const DimFactors *dim : shared) {
        bool whole = true;
        for (int factor : *dim) {
          int64_t left = rule.factors[factor].size;
          if (left == 1)
            continue;
          Axes &axes = assigned[factor];
          size_t kept = 0;
          for (; whole && kept < axes.size() && left % axes[kept].size == 0; ++kept)
            left /= axes[kept].size;
          changed |= kept < axes.size();
          axes.resize(kept);
          whole &= left == 1;
        }
      }
    }
  }

  /// An operand and a result with the same dimensions that are cut differently: one of the two is followed in all of them. The one
  /// in which nothing that moves is cut, else the larger one, else the one in more parts.
  static void followOne(Projection &projection, const Rule &rule, ArrayRef<int64_t> elements) {
    struct Side {
      ProjectedTensor *tensor;
      int64_t elements, parts = 1;
      bool moves = false;
    };
    SmallVector<Side> sides;
    size_t operands = 0;
    for (auto *list : {&projection.operands, &projection.results})
      for (ProjectedTensor &tensor : *list) {
        int64_t size = elements.front();
        elements = elements.drop_front();
        if (tensor.factors.empty())
          continue;
        operands += list == &projection.operands;
        Side &side = sides.emplace_back(Side{&tensor, size});
        for (const FactorAxes &each : tensor.factors) {
          FactorKind kind = rule.factors[each.factor].kind;
          if (!each.minorMost || (kind != FactorKind::PassThrough && kind != FactorKind::Permutation))
            return;
          side.parts *= productOf(each.axes);
          side.moves |= !each.axes.empty() && kind == FactorKind::Permutation;
        }
      }
    if (sides.size() != 2 || operands != 1 || sides[0].tensor->factors.size() != sides[1].tensor->factors.size() ||
        !llvm::all_of(sides[0].tensor->factors, [&](const FactorAxes &each) { return sides[1].tensor->find(each.factor); }))
      return;
    auto key = [](const Side &side) { return std::tuple(side.parts > 1, !side.moves, side.elements, side.parts); };
    Side &other = key(sides[0]) >= key(sides[1]) ? sides[1] : sides[0];
    for (FactorAxes &each : other.tensor->factors)
      each.axes.clear();
  }

  void visit(Operation *op, Rule rule) {
    // Operands that are sharded along the dimension are concatenated shard by shard; others move, and are gathered before.
    if (isa<stablehlo::ConcatenateOp>(op) &&
        llvm::none_of(op->getOperands(), [](Value operand) { return operand.getDefiningOp<stablehlo::SliceOp>(); }))
      for (Factor &factor : rule.factors)
        if (factor.kind == FactorKind::Permutation)
          factor.kind = FactorKind::NeedReplication;
    Attribute name;
    sdy::MeshAttr mesh;
    bool conflict = false;
    Axes pending; // what some operand or result is to be summed along later
    auto project = [&](ValueRange values, ArrayRef<TensorFactors> dims, SmallVectorImpl<ProjectedTensor> &tensors) {
      for (auto [value, tensor] : llvm::zip_equal(values, dims)) {
        sdy::TensorShardingAttr attr = shardingInRegion(value);
        std::optional<TensorSharding> sharding;
        if (attr && attr.getRank() == int64_t(tensor.size())) {
          sdy::MeshAttr here = attr.getMesh(op);
          conflict |= !here || (mesh && here != mesh);
          if (conflict)
            return;
          mesh = here;
          name = attr.getMeshOrRef();
          sharding = fromAttr(attr, mesh);
          pending.append(sharding->unreduced.begin(), sharding->unreduced.end());
        }
        tensors.push_back(sharding::project(sharding ? &*sharding : nullptr, tensor, rule.factors));
      }
    };
    Projection projection;
    project(op->getOperands(), rule.operands, projection.operands);
    project(op->getResults(), rule.results, projection.results);
    if (conflict || !mesh)
      return;
    SmallVector<int64_t> elements;
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults()))) {
      auto shaped = dyn_cast<ShapedType>(value.getType());
      elements.push_back(shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 1);
    }
    followOne(projection, rule, elements);
    SmallVector<Axes> assigned = assignFactors(projection, rule.factors, elements);
    moveToWholeFactors(projection, rule.factors, assigned);
    keepWholeParts(rule, assigned);
    // Along such axes nothing else can be split; what the operation itself leaves to be summed, its result says.
    for (auto [factor, axes] : llvm::zip_equal(rule.factors, assigned))
      for (const Axis &axis : axes)
        if (factor.kind != FactorKind::Reduction && llvm::any_of(pending, [&](const Axis &each) { return each.overlaps(axis); }))
          return;
    auto attrFor = [&](const TensorFactors &dims, sdy::TensorShardingAttr old) {
      sdy::TensorShardingAttr made = toAttr(sharding::shardingOf(dims, rule.factors, assigned), name, mesh);
      return !old || old.getUnreducedAxes().empty()
                 ? made
                 : sdy::TensorShardingAttr::get(made.getContext(), made.getMeshOrRef(), made.getDimShardings(), made.getReplicatedAxes(),
                                                old.getUnreducedAxes(), old.getReductionOp());
    };
    Axes reduced;
    for (auto [factor, axes] : llvm::zip_equal(rule.factors, assigned))
      if (factor.kind == FactorKind::Reduction)
        for (const Axis &axis : axes) {
          bool isLeft = llvm::any_of(pending, [&](const Axis &each) { return each.contains(axis); });
          if (!isLeft && llvm::any_of(pending, [&](const Axis &each) { return each.overlaps(axis); }))
            return;
          if (!isLeft)
            reduced.push_back(axis);
        }
    llvm::sort(reduced);
    for (auto [operand, dims] : llvm::zip_equal(op->getOpOperands(), rule.operands))
      reshardUse(operand, attrFor(dims, shardingInRegion(operand.get())), name);
    builder.setInsertionPointAfter(op);
    for (auto [result, dims] : llvm::zip_equal(op->getResults(), rule.results)) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      sdy::TensorShardingAttr wanted = shardingInRegion(result), made = attrFor(dims, wanted);
      SmallPtrSet<Operation *, 2> own;
      Value value = result;
      sdy::ReductionOp kind = reductionOf(op).value_or(sdy::ReductionOp::Sum);
      auto axes = sdy::AxisRefListAttr::get(op->getContext(), toAttr(reduced, mesh));
      if (!reduced.empty() && markPartial)
        setSharding(result, sdy::TensorShardingAttr::get(op->getContext(), made.getMeshOrRef(), made.getDimShardings(),
                                                         made.getReplicatedAxes(), axes.getValue(), kind));
      else if (!isSame(wanted, made))
        setSharding(result, made);
      if (!reduced.empty()) {
        auto sum = sdy::AllReduceOp::create(builder, op->getLoc(), value.getType(), value, axes, kind, made);
        own.insert(sum);
        value = sum.getResult();
      }
      if (!isSame(wanted, made)) {
        if (!wanted)
          wanted = closedLike(made);
        auto reshard = sdy::ReshardOp::create(builder, op->getLoc(), value.getType(), value, wanted);
        own.insert(reshard);
        value = reshard.getResult();
      }
      if (value != result)
        result.replaceAllUsesExcept(value, own);
    }
  }

  sdy::TensorShardingAttr closedLike(sdy::TensorShardingAttr other) {
    auto closed = sdy::DimensionShardingAttr::get(builder.getContext(), {}, true, std::nullopt);
    return sdy::TensorShardingAttr::get(builder.getContext(), other.getMeshOrRef(),
                                        SmallVector<sdy::DimensionShardingAttr>(other.getRank(), closed));
  }

  func::FuncOp function;
  OpBuilder builder;
  bool everywhere, markPartial, avoidCalls;
};

struct InsertExplicitReshards : impl::InsertExplicitReshardsPassBase<InsertExplicitReshards> {
  using Base::Base;
  void runOnOperation() override {
    if (!getOperation().isExternal())
      Inserter(getOperation(), everywhere, markPartial, avoidCalls || avoidCallsOld).run();
  }
};

struct TempExplicitReshards : impl::TempExplicitReshardsForOptimizationsPassBase<TempExplicitReshards> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      Inserter(getOperation(), false, false, false).run();
  }
};

} // namespace
} // namespace millrace::sharding

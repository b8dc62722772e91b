// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartialReshards.cpp - Reshards that are explicit in every program --===//
// Input:   %1 = stablehlo.add %0, %0          // %0 [{}], unreduced={"x"}
// Output:  %a = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> ... %1 = stablehlo.add %a, %b
#include "passes/sharding/reshard/PartialReshards.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {

/// The sharding in which the operation takes the operand.
static sdy::TensorShardingAttr takenAs(OpOperand &operand, ShardingOf shardingOf) {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  if (isa<func::ReturnOp>(op))
    return op->getParentOfType<func::FuncOp>().getResultAttrOfType<sdy::TensorShardingAttr>(number, sdy::shardingAttrName);
  auto pick = [&](std::optional<sdy::TensorShardingPerValueAttr> list) {
    return list && number < list->getShardings().size() ? list->getShardings()[number] : sdy::TensorShardingAttr();
  };
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return pick(manual.getInShardings());
  if (auto named = dyn_cast<sdy::NamedComputationOp>(op))
    return pick(named.getInShardings());
  if (isa<sdy::ReturnOp>(op)) {
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op->getParentOp()))
      return pick(manual.getOutShardings());
    return pick(cast<sdy::NamedComputationOp>(op->getParentOp()).getOutShardings());
  }
  return op->getNumResults() ? shardingOf(op->getResult(0)) : sdy::TensorShardingAttr();
}

SmallVector<sdy::AxisRefAttr> axesToReduce(OpOperand &operand, ShardingOf shardingOf) {
  Operation *op = operand.getOwner();
  // sdy's own operations say what happens to unreduced axes.
  bool isOwn = isa_and_nonnull<sdy::SdyDialect>(op->getDialect()) &&
               !isa<sdy::ManualComputationOp, sdy::NamedComputationOp, sdy::ReturnOp>(op);
  bool isOtherReturn = op->hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp, sdy::ReturnOp>(op);
  sdy::TensorShardingAttr before = shardingOf(operand.get());
  if (isOwn || isOtherReturn || !before || before.getUnreducedAxes().empty())
    return {};
  sdy::TensorShardingAttr after = takenAs(operand, shardingOf);
  SmallVector<sdy::AxisRefAttr> reduced;
  for (sdy::AxisRefAttr axis : before.getUnreducedAxes())
    if (!after || !llvm::is_contained(after.getUnreducedAxes(), axis))
      reduced.push_back(axis);
  return reduced;
}

void reduceOperands(Operation *op, ShardingOf shardingOf) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<sdy::AxisRefAttr> reduced = axesToReduce(operand, shardingOf), kept;
    if (reduced.empty())
      continue;
    sdy::TensorShardingAttr before = shardingOf(operand.get());
    for (sdy::AxisRefAttr axis : before.getUnreducedAxes())
      if (!llvm::is_contained(reduced, axis))
        kept.push_back(axis);
    auto out = sdy::TensorShardingAttr::get(op->getContext(), before.getMeshOrRef(), before.getDimShardings(),
                                            before.getReplicatedAxes(), kept,
                                            kept.empty() ? sdy::ReductionOp::Sum : before.getReductionOp());
    operand.set(sdy::AllReduceOp::create(builder, operand.get().getLoc(), operand.get().getType(), operand.get(),
                                         sdy::AxisRefListAttr::get(op->getContext(), reduced), before.getReductionOp(), out));
  }
}

void moveProduct(Operation *op, ShardingOf shardingOf) {
  if (!isa<stablehlo::DotOp, stablehlo::DotGeneralOp>(op))
    return;
  auto rule = ruleOf(op);
  sdy::TensorShardingAttr result = shardingOf(op->getResult(0));
  sdy::TensorShardingAttr operands[] = {shardingOf(op->getOperand(0)), shardingOf(op->getOperand(1))};
  if (!rule || !result || !operands[0] || !operands[1] || operands[0].getMeshOrRef() != result.getMeshOrRef() ||
      operands[1].getMeshOrRef() != result.getMeshOrRef())
    return;
  // Of every factor, the axes that the operands split it by; they must agree.
  using AxisRefs = ArrayRef<sdy::AxisRefAttr>;
  SmallVector<std::optional<AxisRefs>> axesOf(rule->factors.size());
  SmallVector<int64_t> sizeOf(rule->factors.size(), 0);
  for (int side = 0; side < 2; ++side) {
    int64_t size = cast<ShapedType>(op->getOperand(side).getType()).getNumElements();
    for (auto [dim, factors] : llvm::enumerate(rule->operands[side])) {
      AxisRefs axes = operands[side].getDimShardings()[dim].getAxes();
      int factor = factors[0];
      if (axesOf[factor] && *axesOf[factor] != axes)
        return;
      axesOf[factor] = axes;
      sizeOf[factor] = std::max(sizeOf[factor], size);
    }
  }
  SmallVector<sdy::AxisRefAttr> contracted, free;
  for (auto [factor, axes] : llvm::zip_equal(rule->factors, axesOf))
    if (axes)
      llvm::append_range(factor.kind == FactorKind::Reduction ? contracted : free, *axes);
  for (auto [i, axis] : llvm::enumerate(free))
    for (sdy::AxisRefAttr other : ArrayRef(free).drop_front(i + 1))
      if (axis.overlaps(other))
        return;
  std::optional<int64_t> moved;
  for (auto [dim, factors] : llvm::enumerate(rule->results[0])) {
    if (result.getDimShardings()[dim].getAxes() == *axesOf[factors[0]])
      continue;
    if (moved)
      return;
    moved = dim;
  }
  if (!moved)
    return;
  int factor = rule->results[0][*moved][0];
  sdy::DimensionShardingAttr now = result.getDimShardings()[*moved];
  if (axesOf[factor]->empty() || now.getAxes().empty() || now.getAxes() != ArrayRef(contracted) ||
      cast<ShapedType>(op->getResult(0).getType()).getNumElements() > sizeOf[factor])
    return;
  SmallVector<sdy::DimensionShardingAttr> dims(result.getDimShardings());
  dims[*moved] = sdy::DimensionShardingAttr::get(op->getContext(), *axesOf[factor], now.getIsClosed(), now.getPriority());
  setSharding(op->getResult(0), withDims(result, dims));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto reshard = sdy::ReshardOp::create(builder, op->getLoc(), op->getResult(0).getType(), op->getResult(0), result);
  op->getResult(0).replaceAllUsesExcept(reshard.getResult(), reshard);
}

} // namespace millrace::sharding

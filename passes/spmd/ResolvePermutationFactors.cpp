// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResolvePermutationFactors.cpp - What neighbours would exchange is kept whole ------===//
// Input:   %1 = stablehlo.reverse %0, dims = [0] {[{"x"}, {"y"}]}                // %0 is [{"x"}, {"y"}]
// Output:  %a = sdy.reshard %0 <@mesh, [{}, {"y"}]> ; %b = stablehlo.reverse %a, dims = [0] {[{}, {"y"}]}
//          %1 = sdy.reshard %b <@mesh, [{"x"}, {"y"}]>
// Leaves alone operations without such factors, or whose dimensions with them are whole.
#include "passes/sharding/ModuleGraph.h"
#include "passes/sharding/Projection.h"
#include "passes/sharding/StrictRules.h"
#include "passes/spmd/GlobalToLocal.h"
#include "passes/spmd/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::spmd {
#define GEN_PASS_DEF_RESOLVEPERMUTATIONFACTORSPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// Without the axes of factors in which elements move, and of those that must be whole; null if there are none.
sdy::TensorShardingAttr inPlace(sdy::TensorShardingAttr sharding, const sharding::TensorFactors &dims, const sharding::Rule &rule,
                                Operation *user) {
  sdy::MeshAttr mesh = sharding ? sharding.getMesh(user) : sdy::MeshAttr();
  if (!mesh || mesh.isMaximal() || sharding.getRank() != int64_t(dims.size()))
    return {};
  sharding::TensorSharding before = sharding::fromAttr(sharding, mesh);
  sharding::ProjectedTensor tensor = sharding::project(&before, dims, rule.factors);
  bool changes = false;
  for (sharding::FactorAxes &each : tensor.factors) {
    const sharding::Factor &factor = rule.factors[each.factor];
    bool stays = factor.kind != sharding::FactorKind::Permutation && factor.kind != sharding::FactorKind::NeedReplication;
    if (stays || (each.axes.empty() && each.overflow.empty()))
      continue;
    each.axes.clear();
    each.overflow.clear();
    changes = true;
  }
  if (!changes)
    return {};
  return sharding::toAttr(sharding::unproject(tensor, dims, rule.factors), sharding.getMeshOrRef(), mesh, sharding.getReductionOp());
}

void resolve(Operation *op) {
  auto rule = sharding::strictRuleOf(op);
  if (!rule || isa<sdy::ReshardOp>(op))
    return;
  OpBuilder builder(op);
  for (auto [operand, dims] : llvm::zip_equal(op->getOpOperands(), rule->operands))
    if (auto kept = inPlace(shardingInRegion(operand.get()), dims, *rule, op))
      operand.set(sdy::ReshardOp::create(builder, op->getLoc(), operand.get().getType(), operand.get(), kept));
  auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
  if (!list)
    return;
  SmallVector<sdy::TensorShardingAttr> shardings(list.getShardings());
  builder.setInsertionPointAfter(op);
  for (auto [result, dims, sharding] : llvm::zip_equal(op->getResults(), rule->results, shardings)) {
    auto kept = inPlace(sharding, dims, *rule, op);
    if (!kept)
      continue;
    Value back = sdy::ReshardOp::create(builder, op->getLoc(), result.getType(), result, sharding);
    result.replaceAllUsesExcept(back, back.getDefiningOp());
    sharding = kept;
  }
  op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(op->getContext(), shardings));
}

struct ResolvePermutationFactors : impl::ResolvePermutationFactorsPassBase<ResolvePermutationFactors> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() > 0)
        ops.push_back(op);
    });
    llvm::for_each(ops, resolve);
  }
};

} // namespace
} // namespace millrace::spmd

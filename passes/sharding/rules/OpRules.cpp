// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpRules.cpp - Rules of elementwise operations; rules as attributes -===//
#include "passes/sharding/rules/OpRules.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {

ArrayRef<int64_t> shapeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

RuleBuilder detail::builderFor(Operation *op) {
  auto ranks = [](ValueRange values) {
    return llvm::map_to_vector(values, [](Value value) { return int64_t(shapeOf(value).size()); });
  };
  return RuleBuilder(ranks(op->getOperands()), ranks(op->getResults()));
}

/// Every operand has the shape of the first result, or none.
static bool hasOneShape(Operation *op) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return shapeOf(operand).empty() || shapeOf(operand) == shape;
  });
}

std::optional<Rule> ruleOf(Operation *op, bool conservative) {
  if (auto attr = op->getAttrOfType<sdy::OpShardingRuleAttr>(sdy::shardingRuleAttrName))
    return fromAttr(attr);
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<ShapedType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  if (op->getNumResults() == 0 || !llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return std::nullopt;
  bool pointwise = isElementwise(op) ||
                   isa<sdy::ShardingConstraintOp, MapOp, AllReduceOp, CollectivePermuteOp, CollectiveBroadcastOp,
                       CollectiveReduceOp, CrossReplicaSumOp>(op) ||
                   op->getName().getDialectNamespace() == "chlo";
  if (pointwise && hasOneShape(op))
    return detail::builderFor(op).addPointwise(shapeOf(op->getResult(0))).build();
  if (auto rule = detail::dataMovementRule(op, conservative))
    return rule;
  if (auto rule = detail::contractionRule(op, conservative))
    return rule;
  if (auto rule = detail::reductionRule(op, conservative))
    return rule;
  if (auto rule = detail::indexingRule(op))
    return rule;
  return detail::customCallRule(op);
}

bool isUnknown(Operation *op) {
  if (op->getNumResults() == 0 || op->hasTrait<OpTrait::IsTerminator>() || ruleOf(op))
    return false;
  if (isa<sdy::SdyDialect>(op->getDialect()) || isa<CallOpInterface>(op))
    return false;
  // Nothing goes in, several programs are inside, or values are not tensors of one place.
  if (isa<AfterAllOp, CaseOp, ConstantOp, CreateTokenOp, GetTupleElementOp, IfOp, InfeedOp, IotaOp, OutfeedOp,
          OptimizationBarrierOp, PartitionIdOp, RecvOp, ReplicaIdOp, ReshapeOp, RngOp, SendOp, TupleOp, WhileOp>(op))
    return false;
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    StringRef target = call.getCallTargetName();
    return !llvm::is_contained({"sdy_testonly", "tpu_custom_call", "xla_python_cpu_callback", "xla_python_gpu_callback",
                                "xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback"},
                               target);
  }
  return true;
}

//===-- Attributes --------------------------------------------------------===//

sdy::OpShardingRuleAttr toAttr(const Rule &rule, MLIRContext *context) {
  SmallVector<int64_t> sizes, reduction, replication, permutation, blocked;
  for (auto [i, factor] : llvm::enumerate(rule.factors)) {
    sizes.push_back(factor.size);
    if (factor.kind == FactorKind::Reduction)
      reduction.push_back(i);
    if (factor.kind == FactorKind::NeedReplication)
      replication.push_back(i);
    if (factor.kind == FactorKind::Permutation)
      permutation.push_back(i);
    if (factor.blocked)
      blocked.push_back(i);
  }
  auto mappings = [&](ArrayRef<TensorFactors> tensors) {
    return llvm::map_to_vector(tensors, [&](const TensorFactors &tensor) {
      auto dims = llvm::map_to_vector(tensor, [&](const DimFactors &dim) {
        return sdy::DimMappingAttr::get(context, SmallVector<int64_t>(dim.begin(), dim.end()));
      });
      return sdy::TensorMappingAttr::get(context, dims);
    });
  };
  return sdy::OpShardingRuleAttr::get(context, sizes, mappings(rule.operands), mappings(rule.results), reduction,
                                      replication, permutation, blocked, rule.custom);
}

Rule fromAttr(sdy::OpShardingRuleAttr attr) {
  Rule rule;
  rule.custom = attr.getIsCustomRule();
  for (int64_t size : attr.getFactorSizes())
    rule.factors.push_back({size});
  for (int64_t factor : attr.getReductionFactors())
    rule.factors[factor].kind = FactorKind::Reduction;
  for (int64_t factor : attr.getNeedReplicationFactors())
    rule.factors[factor].kind = FactorKind::NeedReplication;
  for (int64_t factor : attr.getPermutationFactors())
    rule.factors[factor].kind = FactorKind::Permutation;
  for (int64_t factor : attr.getBlockedPropagationFactors())
    rule.factors[factor].blocked = true;
  auto tensors = [](ArrayRef<sdy::TensorMappingAttr> mappings) {
    return llvm::map_to_vector<2>(mappings, [](sdy::TensorMappingAttr mapping) {
      TensorFactors dims;
      for (sdy::DimMappingAttr dim : mapping.getDimMappings())
        dims.emplace_back(dim.getFactorIndices().begin(), dim.getFactorIndices().end());
      return dims;
    });
  };
  rule.operands = tensors(attr.getOperandMappings());
  rule.results = tensors(attr.getResultMappings());
  return rule;
}

} // namespace millrace::sharding

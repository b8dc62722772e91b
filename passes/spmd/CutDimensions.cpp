// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CutDimensions.cpp - Dimensions that shardings may reach --------------===//
#include "passes/spmd/CutDimensions.h"

#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/sharding/rules/OpRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;
using millrace::sharding::shapeOf;

namespace millrace::spmd {

constexpr llvm::StringLiteral kHloSharding = "mhlo.sharding";

CutDimensions::CutDimensions(ModuleOp module) {
  module.walk([&](Operation *op) { tie(op); });
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op); function && !function.isExternal()) {
      for (BlockArgument argument : function.getArguments())
        for (StringRef name : {StringRef(sdy::shardingAttrName), StringRef(kHloSharding)})
          mark(argument, function.getArgAttr(argument.getArgNumber(), name));
      for (Block &block : function.getBody())
        if (auto terminator = dyn_cast<func::ReturnOp>(block.getTerminator()))
          for (OpOperand &operand : terminator->getOpOperands())
            for (StringRef name : {StringRef(sdy::shardingAttrName), StringRef(kHloSharding)})
              mark(operand.get(), function.getResultAttr(operand.getOperandNumber(), name));
    } else if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) {
      for (auto [value, sharding] : llvm::zip(manual->getOperands(), manual.getInShardings().getShardings()))
        mark(value, sharding);
      for (auto [value, sharding] : llvm::zip(manual->getResults(), manual.getOutShardings().getShardings()))
        mark(value, sharding);
    } else if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op)) {
      mark(op->getResult(0), op->getAttr("sharding"));
    } else if (auto all = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName)) {
      for (auto [value, sharding] : llvm::zip(op->getResults(), all.getShardings()))
        mark(value, sharding);
    } else if (op->getNumResults() == 1) {
      mark(op->getResult(0), op->getAttr(kHloSharding));
    }
  });
  // The last reshape comes first, since its operand may be a part that an earlier reshape has split.
  SmallVector<Operation *> reshapes;
  module.walk([&](ReshapeOp op) { reshapes.push_back(op); });
  llvm::for_each(llvm::reverse(reshapes), [&](Operation *op) { markParts(op); });
}

/// Marks, for every dimension that the reshape splits, where the parts begin that may be sharded. The first part is sharded as the dimension.
void CutDimensions::markParts(Operation *op) {
  std::optional<sharding::Rule> rule = sharding::ruleOf(op);
  if (!rule)
    return;
  Value operand = op->getOperand(0), result = op->getResult(0);
  auto beginsCut = [&](int factor) {
    for (auto [dim, factors] : llvm::enumerate(rule->results[0]))
      if (auto first = llvm::find_if(factors, [&](int each) { return rule->factors[each].size > 1; });
          first != factors.end() && *first == factor)
        return mayBeCut(result, int64_t(dim));
    return false;
  };
  for (auto [dim, factors] : llvm::enumerate(rule->operands[0])) {
    int64_t before = 1;
    for (int factor : factors) {
      if (before > 1 && rule->factors[factor].size > 1 && beginsCut(factor))
        behind[rootOf(operand, int64_t(dim))].push_back(before);
      before *= rule->factors[factor].size;
    }
  }
}

bool CutDimensions::mayBeCutBehind(Value value, int64_t dim, int64_t before) {
  auto found = behind.find(rootOf(value, dim));
  return found != behind.end() && llvm::is_contained(found->second, before);
}

int CutDimensions::rootOf(Value value, int64_t dim) {
  auto [place, isNew] = firstNode.try_emplace(value, int(parents.size()));
  if (isNew)
    for (size_t i = 0; i < shapeOf(value).size(); ++i) {
      parents.push_back(int(parents.size()));
      isCut.push_back(false);
    }
  return rootOf(place->second + int(dim));
}

int CutDimensions::rootOf(int node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

void CutDimensions::tie(int a, int b) {
  a = rootOf(a);
  b = rootOf(b);
  if (a == b)
    return;
  parents[a] = b;
  isCut[b] = isCut[a] || isCut[b];
  if (auto places = behind.find(a); places != behind.end()) {
    SmallVector<int64_t, 1> moved = std::move(places->second);
    behind.erase(places);
    llvm::append_range(behind[b], moved);
  }
}

void CutDimensions::tie(Value a, Value b) {
  for (size_t dim = 0; dim < std::min(shapeOf(a).size(), shapeOf(b).size()); ++dim)
    tie(rootOf(a, dim), rootOf(b, dim));
}

void CutDimensions::tie(Operation *op) {
  if (isa<OptimizationBarrierOp, WhileOp>(op) || (isa<CustomCallOp>(op) && op->hasAttr(kHloSharding)))
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
      tie(operand, result);
  if (isa<WhileOp, IfOp, CaseOp>(op))
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        for (auto [argument, operand] : llvm::zip(block.getArguments(), op->getOperands()))
          tie(argument, operand);
        if (block.getTerminator()->getNumOperands() == op->getNumResults())
          for (auto [returned, result] : llvm::zip(block.getTerminator()->getOperands(), op->getResults()))
            tie(returned, result);
      }
  std::optional<sharding::Rule> rule = sharding::ruleOf(op);
  if (!rule)
    return;
  std::vector<int> seen(rule->factors.size(), -1);
  auto tieAll = [&](ValueRange values, ArrayRef<sharding::TensorFactors> tensors) {
    for (auto [value, dims] : llvm::zip(values, tensors))
      for (auto [dim, factors] : llvm::enumerate(dims)) {
        auto major = llvm::find_if(factors, [&](int factor) { return rule->factors[factor].size > 1; });
        if (major == factors.end() || rule->factors[*major].kind == sharding::FactorKind::NeedReplication)
          continue;
        int node = rootOf(value, int64_t(dim));
        if (seen[*major] >= 0)
          tie(seen[*major], node);
        seen[*major] = node;
      }
  };
  tieAll(op->getOperands(), rule->operands);
  tieAll(op->getResults(), rule->results);
}

void CutDimensions::mark(Value value, Attribute sharding) {
  int64_t rank = int64_t(shapeOf(value).size());
  auto markDim = [&](int64_t dim) { isCut[rootOf(value, dim)] = true; };
  if (auto axes = dyn_cast_or_null<sdy::TensorShardingAttr>(sharding)) {
    for (auto [dim, each] : llvm::enumerate(axes.getDimShardings()))
      if (!each.getAxes().empty() && int64_t(dim) < rank)
        markDim(int64_t(dim));
    return;
  }
  auto text = dyn_cast_or_null<StringAttr>(sharding);
  std::string error;
  auto parsed = text ? sdy::parseHloSharding(text.getValue(), error) : std::nullopt;
  if (parsed && parsed->kind == sdy::HloSharding::Kind::Tuple && parsed->elements.size() == 1)
    parsed = sdy::HloSharding(parsed->elements[0]);
  if (!parsed)
    return; // a pass that reads the sharding reports the error
  for (int64_t dim = 0; dim < rank; ++dim)
    if ((dim < int64_t(parsed->tiles.size()) && parsed->tiles[dim] > 1) ||
        (dim < int64_t(parsed->dimensions.size()) && !parsed->dimensions[dim].axes.empty()))
      markDim(dim);
}

} // namespace millrace::spmd

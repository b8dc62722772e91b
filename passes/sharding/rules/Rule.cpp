// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rule.cpp - Building rules ------------------------------------------===//
#include "passes/sharding/rules/Rule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace llvm;

namespace millrace::sharding {

RuleBuilder::RuleBuilder(ArrayRef<int64_t> operandRanks, ArrayRef<int64_t> resultRanks) {
  for (int64_t rank : operandRanks)
    rule.operands.emplace_back(rank);
  for (int64_t rank : resultRanks)
    rule.results.emplace_back(rank);
}

RuleBuilder &RuleBuilder::add(ArrayRef<int64_t> operandDims, ArrayRef<int64_t> resultDims, int64_t size, FactorKind kind,
                              bool blocked) {
  int factor = rule.factors.size();
  auto place = [&](auto &tensors, ArrayRef<int64_t> dims) {
    for (auto [tensor, dim] : zip_equal(tensors, dims))
      if (dim != kNoDim)
        tensor[dim].push_back(factor);
  };
  place(rule.operands, operandDims);
  place(rule.results, resultDims);
  rule.factors.push_back({size, kind, blocked});
  return *this;
}

RuleBuilder &RuleBuilder::addEverywhere(int64_t dim, int64_t size, FactorKind kind, bool blocked) {
  auto where = [&](const auto &tensors) {
    return map_to_vector(tensors, [&](const TensorFactors &tensor) { return tensor.empty() ? kNoDim : dim; });
  };
  return add(where(rule.operands), where(rule.results), size, kind, blocked);
}

RuleBuilder &RuleBuilder::addPointwise(ArrayRef<int64_t> shape, Kinds kind, bool blocked) {
  for (auto [dim, size] : enumerate(shape))
    addEverywhere(dim, size, kind(dim), blocked);
  return *this;
}

RuleBuilder &RuleBuilder::addPointwiseUnlessDifferent(ArrayRef<int64_t> shape, ArrayRef<int64_t> other, FactorKind kind,
                                                      bool blocked) {
  for (auto [dim, size] : enumerate(shape)) {
    if (size == other[dim])
      addEverywhere(dim, size);
    else
      addEverywhere(dim, size, kind, blocked);
  }
  return *this;
}

Rule RuleBuilder::build() {
  Rule result = rule;
  for (auto *side : {&result.operands, &result.results})
    for (TensorFactors &tensor : *side)
      for (DimFactors &dim : tensor)
        if (dim.empty()) {
          dim.push_back(result.factors.size());
          result.factors.emplace_back();
        }
  return result;
}

Rule identityRule(ArrayRef<int64_t> shape, size_t operands, size_t results) {
  SmallVector<int64_t> in(operands, shape.size()), out(results, shape.size());
  return RuleBuilder(in, out).addPointwise(shape).build();
}

} // namespace millrace::sharding

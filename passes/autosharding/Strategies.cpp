// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strategies.cpp - Strategies for sharding an operation ---------------===//
#include "passes/autosharding/Strategies.h"

#include "llvm/ADT/STLExtras.h"

using namespace millrace::sharding;

namespace millrace::autosharding {
namespace {

/// Returns the axes of dimensions, given those of factors. Returns nothing if a factor is sharded behind one that is not sharded into single
/// elements, because a shard would not be contiguous.
std::optional<TensorSharding> shardingOf(const TensorFactors &dims, llvm::ArrayRef<Factor> factors, llvm::ArrayRef<Axes> axes) {
  TensorSharding sharding;
  for (const DimFactors &dim : dims) {
    DimSharding &result = sharding.dims.emplace_back();
    result.closed = true;
    bool ended = false;
    for (int factor : dim) {
      if (!axes[factor].empty() && ended)
        return std::nullopt;
      for (const Axis &axis : axes[factor])
        append(result.axes, axis);
      ended |= productOf(axes[factor]) != factors[factor].size;
    }
  }
  return sharding;
}

/// Calls `visit` with every assignment of the axes to `places` places, or to none (-1).
void forEachAssignment(llvm::ArrayRef<int64_t> mesh, llvm::ArrayRef<int> places, llvm::function_ref<void(llvm::ArrayRef<int>)> visit) {
  llvm::SmallVector<int> chosen(mesh.size(), -1);
  auto step = [&](auto &&step, size_t axis) -> void {
    if (axis == mesh.size())
      return visit(chosen);
    chosen[axis] = -1;
    step(step, axis + 1);
    if (mesh[axis] > 1)
      for (int place : places) {
        chosen[axis] = place;
        step(step, axis + 1);
      }
    chosen[axis] = -1;
  };
  step(step, 0);
}

} // namespace

std::vector<Strategy> strategiesOf(const Splittable &splittable, llvm::ArrayRef<int64_t> mesh) {
  const Rule &rule = splittable.rule;
  llvm::SmallVector<int> places;
  for (size_t factor = 0; factor < rule.factors.size(); ++factor)
    if (splittable.factors[factor] && (rule.factors[factor].kind == FactorKind::PassThrough || rule.factors[factor].kind == FactorKind::Reduction))
      places.push_back(int(factor));
  std::vector<Strategy> strategies;
  forEachAssignment(mesh, places, [&](llvm::ArrayRef<int> factorOf) {
    llvm::SmallVector<Axes> axes(rule.factors.size());
    Strategy strategy;
    for (auto [axis, factor] : llvm::enumerate(factorOf))
      if (factor >= 0)
        axes[factor].push_back({int32_t(axis), 1, mesh[axis]});
    for (auto [factor, split] : llvm::enumerate(axes)) {
      int64_t parts = productOf(split), size = rule.factors[factor].size;
      if (parts > 1 && (parts > size || (size % parts != 0 && !splittable.uneven[factor])))
        return;
      if (parts > 1)
        strategy.share *= double((size + parts - 1) / parts) / double(size);
      if (rule.factors[factor].kind == FactorKind::Reduction)
        llvm::append_range(strategy.summed, split);
    }
    for (bool isResult : {false, true})
      for (const TensorFactors &dims : isResult ? rule.results : rule.operands) {
        std::optional<TensorSharding> sharding = shardingOf(dims, rule.factors, axes);
        if (!sharding)
          return;
        (isResult ? strategy.results : strategy.operands).push_back(std::move(*sharding));
      }
    strategy.kept = strategy.results;
    strategies.push_back(strategy);
    if (strategy.summed.empty() || strategy.results.size() != 1)
      return;
    // A device that holds a shard of the result needs the sum of that shard only.
    for (auto [dim, factors] : llvm::enumerate(rule.results[0])) {
      int64_t size = 1;
      for (int factor : factors)
        size *= rule.factors[factor].size;
      Axes all = strategy.results[0].dims[dim].axes;
      for (const Axis &axis : strategy.summed)
        append(all, axis);
      if (size == 0 || size % productOf(all) != 0)
        continue;
      Strategy scattered = strategy;
      scattered.kept[0].dims[dim].axes = all;
      strategies.push_back(std::move(scattered));
    }
  });
  return strategies;
}

std::vector<TensorSharding> shardingsOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> mesh) {
  llvm::SmallVector<int> places;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] > 1)
      places.push_back(int(dim));
  std::vector<TensorSharding> result;
  forEachAssignment(mesh, places, [&](llvm::ArrayRef<int> dimOf) {
    TensorSharding sharding;
    sharding.dims.resize(shape.size());
    for (auto [axis, dim] : llvm::enumerate(dimOf))
      if (dim >= 0)
        sharding.dims[dim].axes.push_back({int32_t(axis), 1, mesh[axis]});
    for (auto [dim, size] : llvm::zip_equal(sharding.dims, shape)) {
      dim.closed = true;
      if (size % productOf(dim.axes) != 0)
        return;
    }
    result.push_back(std::move(sharding));
  });
  return result;
}

bool agrees(const TensorSharding &sharding, const TensorSharding &wanted) {
  if (sharding.dims.size() != wanted.dims.size() || sharding.unreduced != wanted.unreduced)
    return false;
  for (auto [has, asked] : llvm::zip_equal(sharding.dims, wanted.dims))
    if (asked.closed ? has.axes != asked.axes : prefixOf(asked.axes, has.axes) == Prefix::No)
      return false;
  for (const Axis &axis : wanted.replicated)
    for (const DimSharding &dim : sharding.dims)
      if (llvm::any_of(dim.axes, [&](const Axis &used) { return used.overlaps(axis); }))
        return false;
  return true;
}

int64_t elementsOf(llvm::ArrayRef<int64_t> shape, const TensorSharding &sharding) {
  int64_t elements = 1;
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims)) {
    int64_t parts = productOf(dim.axes);
    elements *= (size + parts - 1) / parts;
  }
  return elements;
}

} // namespace millrace::autosharding

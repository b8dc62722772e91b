// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Step.cpp - Propagation through one operation -----------------------===//
// In the words of Shardy's documents: the compatible major axes of each factor, then conflicts, then expansion.
#include "passes/sharding/propagation/Step.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <numeric>

using namespace llvm;

namespace millrace::sharding {
namespace {

/// Joins the axes of several tensors as long as they agree.
struct Agreement {
  Axes axes;
  bool growing = true;

  /// `more` may continue the axes if it may give, and otherwise only stops them.
  void join(AxesRef more) {
    Axes joined;
    AxesRef mine = axes;
    while (!mine.empty() && !more.empty()) {
      Axis here = mine.front(), there = more.front();
      mine = mine.drop_front();
      more = more.drop_front();
      if (here == there) {
        joined.push_back(here);
        continue;
      }
      bool shorter = there.isPrefixOf(here), longer = here.isPrefixOf(there);
      if (shorter && more.empty()) {
        joined.push_back(here);
      } else if (longer && growing && mine.empty()) {
        joined.push_back(there);
      } else {
        // Two lists that go on differently after a common part of an axis.
        if (shorter)
          joined.push_back(there);
        else if (longer)
          joined.push_back(here);
        axes = joined;
        growing = false;
        return;
      }
    }
    joined.append(mine.begin(), mine.end());
    if (growing)
      joined.append(more.begin(), more.end());
    axes = joined;
  }
};

} // namespace

Axes compatibleAxes(const Projection &projection, int factor, Direction direction) {
  if (direction == Direction::None)
    return {};
  Agreement agreement;
  auto join = [&](ArrayRef<ProjectedTensor> tensors) {
    for (const ProjectedTensor &tensor : tensors)
      if (const FactorAxes *here = tensor.find(factor))
        agreement.join(here->axes);
  };
  bool backward = direction == Direction::Backward;
  join(backward ? projection.results : projection.operands);
  if (direction != Direction::Both)
    agreement.growing = false;
  join(backward ? projection.operands : projection.results);
  return agreement.axes;
}

namespace {

/// Ends the list at the first axis of which `allowed` leaves less than the whole. `allowed` also gets the product of the
/// axes before.
void truncate(Axes &axes, function_ref<std::optional<Axis>(Axis, int64_t)> allowed, ArrayRef<int64_t> mesh,
              bool conservative) {
  int64_t before = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<Axis> left = allowed(axes[i], before);
    if (!left || (conservative && isPart(*left, mesh))) {
      axes.truncate(i);
      return;
    }
    if (*left != axes[i]) {
      axes[i] = *left;
      axes.truncate(i + 1);
      return;
    }
    before *= axes[i].size;
  }
}

/// Returns the part of `axis` that other factors of the tensor do not use.
std::optional<Axis> freeOfOthers(Axis axis, const ProjectedTensor &tensor, int factor) {
  std::optional<Axis> left = axis;
  for (const FactorAxes &other : tensor.factors) {
    if (other.factor == factor)
      continue;
    left = withoutOverlap(*left, other.overflow);
    if (left)
      left = withoutOverlap(*left, other.axes);
    if (!left)
      return std::nullopt;
  }
  return left;
}

/// Returns the part of `axis` that the factor of the tensor can have after axes whose product is `before`.
std::optional<Axis> fitting(Axis axis, const ProjectedTensor &tensor, const FactorAxes &here, int64_t before, int64_t size) {
  std::optional<Axis> left = withoutOverlap(axis, tensor.replicated);
  if (left)
    left = withoutOverlap(*left, tensor.unreduced);
  if (!left)
    return std::nullopt;
  if (any_of(here.axes, [&](const Axis &mine) { return mine.contains(*left); }))
    return left;
  if (!here.closed && here.overflow.empty()) {
    if (here.minorMost)
      return left;
    if (size % before == 0) {
      int64_t common = std::gcd(size / before, left->size);
      if (common == left->size)
        return left;
      if (common != 1)
        return Axis{left->axis, left->pre, common};
    }
  }
  if (!here.axes.empty() && here.axes.back().isPrefixOf(*left))
    return here.axes.back();
  return std::nullopt;
}

/// All tensors, operands first.
SmallVector<ProjectedTensor *> tensorsOf(Projection &projection) {
  SmallVector<ProjectedTensor *> result;
  for (auto *side : {&projection.operands, &projection.results})
    for (ProjectedTensor &tensor : *side)
      result.push_back(&tensor);
  return result;
}

/// The largest tensor that has the axes already; -1 if none does.
struct Source {
  int tensor = -1;
  int64_t size = -1;
};

SmallVector<Source> sourcesOf(ArrayRef<ProjectedTensor *> tensors, ArrayRef<Axes> axes, ArrayRef<Factor> factors) {
  SmallVector<Source> sources(factors.size());
  for (auto [i, tensor] : enumerate(tensors)) {
    int64_t size = 1;
    for (const FactorAxes &each : tensor->factors)
      size *= factors[each.factor].size;
    for (const FactorAxes &each : tensor->factors) {
      Source &source = sources[each.factor];
      bool has = !axes[each.factor].empty() && prefixOf(axes[each.factor], each.axes) != Prefix::No;
      if (has && size > source.size)
        source = {int(i), size};
    }
  }
  return sources;
}

SmallVector<Added> propagateBasic(Projection &projection, ArrayRef<Direction> directions, ArrayRef<Factor> factors,
                                  ArrayRef<int64_t> mesh, bool conservative) {
  SmallVector<Added> result;
  SmallVector<ProjectedTensor *> tensors = tensorsOf(projection);
  for (size_t factor = 0; factor < factors.size(); ++factor) {
    SmallVector<Axes> axes(factors.size());
    axes[factor] = compatibleAxes(projection, factor, directions[factor]);
    truncate(
        axes[factor],
        [&](Axis axis, int64_t before) {
          std::optional<Axis> left = axis;
          for (ProjectedTensor *tensor : tensors) {
            left = freeOfOthers(*left, *tensor, factor);
            const FactorAxes *here = tensor->find(factor);
            if (left && here)
              left = fitting(*left, *tensor, *here, before, factors[factor].size);
            if (!left)
              break;
          }
          return left;
        },
        mesh, conservative);
    if (axes[factor].empty())
      continue;
    for (auto [i, tensor] : enumerate(tensors))
      if (FactorAxes *here = tensor->find(factor); here && prefixOf(here->axes, axes[factor]) == Prefix::Strict) {
        here->axes = axes[factor];
        result.push_back({int(i), int(factor), axes[factor]});
      }
  }
  return result;
}

SmallVector<Added> propagateAggressive(Projection &projection, ArrayRef<Direction> directions, ArrayRef<Factor> factors,
                                       ArrayRef<int64_t> mesh, const StepOptions &options) {
  SmallVector<Added> result;
  SmallVector<Axes> axes;
  for (size_t factor = 0; factor < factors.size(); ++factor)
    axes.push_back(compatibleAxes(projection, factor, directions[factor]));
  if (all_of(axes, [](const Axes &each) { return each.empty(); }))
    return result;

  SmallVector<ProjectedTensor *> tensors = tensorsOf(projection);
  SmallVector<Source> sources = sourcesOf(tensors, axes, factors);
  SmallVector<int> order = to_vector(seq<int>(0, factors.size()));
  auto rank = [&](int factor) {
    int64_t parts = options.elementwise ? productOf(axes[factor]) : 0;
    return std::tuple(-sources[factor].size, -parts, sources[factor].tensor, factor);
  };
  llvm::sort(order, [&](int a, int b) { return rank(a) < rank(b); });

  auto visit = [&](size_t index, bool isOperand) {
    ProjectedTensor &tensor = *tensors[index];
    for (int factor : order) {
      FactorAxes *here = tensor.find(factor);
      if (!here)
        continue;
      Axes wanted = axes[factor];
      truncate(
          wanted,
          [&](Axis axis, int64_t before) { return fitting(axis, tensor, *here, before, factors[factor].size); }, mesh,
          options.conservative);
      if (prefixOf(here->axes, wanted) != Prefix::Strict)
        continue;
      truncate(
          wanted, [&](Axis axis, int64_t) { return freeOfOthers(axis, tensor, factor); }, mesh, options.conservative);
      if (isOperand && options.elementwise)
        for (const ProjectedTensor &other : projection.results)
          if (const FactorAxes *there = other.find(factor); there && prefixOf(there->axes, wanted) == Prefix::Strict)
            wanted = there->axes;
      if (prefixOf(here->axes, wanted) != Prefix::Strict)
        continue;
      here->axes = wanted;
      result.push_back({int(index), factor, wanted});
    }
  };
  size_t operands = projection.operands.size();
  for (size_t i = operands; i < tensors.size(); ++i)
    visit(i, false);
  for (size_t i = 0; i < operands; ++i)
    visit(i, true);
  return result;
}

} // namespace

SmallVector<Added> propagate(Projection &projection, ArrayRef<Direction> directions, ArrayRef<Factor> factors,
                             ArrayRef<int64_t> mesh, const StepOptions &options) {
  if (options.aggressive)
    return propagateAggressive(projection, directions, factors, mesh, options);
  return propagateBasic(projection, directions, factors, mesh, options.conservative);
}

} // namespace millrace::sharding

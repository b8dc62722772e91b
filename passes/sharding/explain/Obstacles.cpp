// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Obstacles.cpp - Why an axis did not reach a tensor -----------------===//
// Looks at what Step.cpp looks at, after the last step, and says what it saw.
#include "passes/sharding/explain/Obstacles.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace millrace::sharding {
namespace {

struct Places {
  const Rule &rule;
  const Projection &projection;

  size_t size() const { return projection.operands.size() + projection.results.size(); }
  bool isOperand(size_t place) const { return place < projection.operands.size(); }
  const ProjectedTensor &tensor(size_t place) const {
    return isOperand(place) ? projection.operands[place] : projection.results[place - projection.operands.size()];
  }
  const TensorFactors &dims(size_t place) const {
    return isOperand(place) ? rule.operands[place] : rule.results[place - rule.operands.size()];
  }
  AxesRef axes(size_t place, int factor) const {
    const FactorAxes *here = tensor(place).find(factor);
    return here ? AxesRef(here->axes) : AxesRef();
  }
};

bool overlaps(const Axis &axis, AxesRef others) {
  return any_of(others, [&](const Axis &other) { return other.overlaps(axis); });
}

/// The dimension of the tensor whose factors have the axis.
int dimWith(const Places &places, int place, const Axis &axis, int butNot) {
  for (auto [dim, factors] : enumerate(places.dims(place)))
    for (int factor : factors) {
      const FactorAxes *each = places.tensor(place).find(factor);
      if (factor != butNot && each && (overlaps(axis, each->axes) || overlaps(axis, each->overflow)))
        return int(dim);
    }
  return -1;
}

void judge(const Places &places, int place, Missing &missing, Direction direction, bool elementwise) {
  int factor = missing.factor;
  const ProjectedTensor &tensor = places.tensor(place);
  const FactorAxes &here = *tensor.find(factor);
  Axis axis = missing.axes.front();
  missing.why = Obstacle::Unfinished;
  if (places.rule.factors[factor].blocked) {
    missing.why = Obstacle::Blocked;
    return;
  }
  bool gives = direction == Direction::Both ||
               direction == (places.isOperand(missing.source) ? Direction::Forward : Direction::Backward);
  if (!gives || (direction != Direction::Both && places.isOperand(missing.source) == places.isOperand(place))) {
    missing.why = Obstacle::Direction;
    return;
  }
  if (compatibleAxes(places.projection, factor, direction).empty()) {
    missing.why = Obstacle::Disagreement;
    for (size_t other = 0; other < places.size() && missing.other < 0; ++other)
      if (AxesRef axes = places.axes(other, factor); !axes.empty() && !axes.front().overlaps(axis))
        missing.other = int(other);
    return;
  }
  if (here.closed) {
    missing.why = Obstacle::Closed;
    return;
  }
  if (overlaps(axis, tensor.replicated) || overlaps(axis, tensor.unreduced)) {
    missing.why = Obstacle::Kept;
    return;
  }
  if (int dim = dimWith(places, place, axis, factor); dim >= 0) {
    missing.why = Obstacle::Taken;
    missing.other = dim;
    return;
  }
  if (!here.minorMost && std::gcd(places.rule.factors[factor].size, axis.size) == 1) {
    missing.why = Obstacle::Uneven;
    return;
  }
  if (elementwise && places.isOperand(place))
    for (size_t other = places.projection.operands.size(); other < places.size(); ++other)
      if (places.tensor(other).find(factor) && places.axes(other, factor).empty()) {
        missing.why = Obstacle::Follows;
        missing.other = int(other);
        return;
      }
}

} // namespace

SmallVector<Missing> missingAxes(const Rule &rule, const Projection &projection, ArrayRef<Direction> directions, int place,
                                 bool elementwise) {
  Places places{rule, projection};
  SmallVector<Missing> all;
  if (places.tensor(place).factors.empty())
    return all;
  for (auto [dim, factors] : enumerate(places.dims(place)))
    for (int factor : factors) {
      if (!places.axes(place, factor).empty())
        continue;
      for (size_t source = 0; source < places.size(); ++source) {
        AxesRef axes = places.axes(source, factor);
        if (int(source) == place || axes.empty())
          continue;
        Missing &missing = all.emplace_back(Missing{int(dim), factor, int(source), Axes(axes.begin(), axes.end()), Obstacle::Unfinished});
        judge(places, place, missing, directions[factor], elementwise);
        break;
      }
    }
  return all;
}

} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DimensionSplits.cpp - Axes of one dimension that go different ways -===//
#include "passes/sharding/reshard/DimensionSplits.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace millrace::sharding {
namespace {

constexpr int nowhere = -1;

int dimensionOf(const Axis &axis, const DimAxes &dims) {
  for (auto [dim, axes] : enumerate(dims))
    if (is_contained(axes, axis))
      return dim;
  return nowhere;
}

/// Neighbours of one dimension of `here` that are together in `there`, too; fewer than two if the dimension stays.
struct Groups {
  DimAxes axes;
  SmallVector<int, 4> dims; ///< where each is
};

Groups groupsOf(int dim, const DimAxes &here, const DimAxes &there) {
  Groups groups;
  for (const Axis &axis : here[dim]) {
    int at = dimensionOf(axis, there);
    if (groups.dims.empty() || groups.dims.back() != at) {
      if (at != nowhere && is_contained(groups.dims, at))
        return {}; // it comes back to where others before it are
      groups.axes.emplace_back();
      groups.dims.push_back(at);
    }
    groups.axes.back().push_back(axis);
  }
  return groups;
}

/// Returns true if dimension `there` has axes, or sub-axes, that dimensions other than `dim` have in `here`.
bool meetsOthers(int dim, const DimAxes &here, const Axes &there) {
  for (auto [other, axes] : enumerate(here))
    if (int(other) != dim)
      for (const Axis &axis : axes)
        if (any_of(there, [&](const Axis &each) { return each.axis == axis.axis; }))
          return true;
  return false;
}

/// The axes that groups have on the other side of the change: their own that stay in `dim`, and in the place of those that go
/// away what comes into `dim`. Nothing if that does not fit.
std::optional<DimAxes> otherSide(int dim, const Groups &groups, const Axes &there) {
  DimAxes result(groups.axes.size());
  SmallVector<Axis, 4> incoming;
  for (const Axis &axis : there) {
    int own = dimensionOf(axis, groups.axes);
    if (own == nowhere)
      incoming.push_back(axis);
    else
      result[own].push_back(axis);
  }
  ArrayRef<Axis> left = incoming;
  for (auto [i, at] : enumerate(groups.dims)) {
    if (at != nowhere)
      continue;
    int64_t size = productOf(groups.axes[i]), taken = 1;
    for (; taken < size && !left.empty(); left = left.drop_front()) {
      taken *= left.front().size;
      result[i].push_back(left.front());
    }
    if (size % taken != 0)
      return std::nullopt;
  }
  return left.empty() ? std::optional(result) : std::nullopt;
}

std::optional<DimensionSplit> splitOf(int dim, const DimAxes &here, const DimAxes &there) {
  Groups groups = groupsOf(dim, here, there);
  if (groups.axes.size() < 2 || meetsOthers(dim, here, there[dim]))
    return std::nullopt;
  for (int at : groups.dims)
    if (at != nowhere && meetsOthers(dim, here, there[at]))
      return std::nullopt;
  auto other = otherSide(dim, groups, there[dim]);
  if (!other)
    return std::nullopt;
  DimensionSplit split{dim, groups.axes, *other, {}};
  for (const Axes &axes : ArrayRef(groups.axes).drop_back())
    split.lengths.push_back(productOf(axes));
  return split;
}

} // namespace

std::vector<DimensionSplit> splitsBetween(const DimAxes &from, const DimAxes &to) {
  std::vector<DimensionSplit> splits;
  for (int dim = 0; dim < int(from.size()); ++dim) {
    if (auto split = splitOf(dim, from, to)) {
      splits.push_back(*split);
    } else if (auto split = splitOf(dim, to, from)) {
      std::swap(split->from, split->to);
      splits.push_back(*split);
    }
  }
  return splits;
}

} // namespace millrace::sharding

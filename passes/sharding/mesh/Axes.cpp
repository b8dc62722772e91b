// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Axes.cpp - Arithmetic on parts of axes -----------------------------===//
#include "passes/sharding/mesh/Axes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace millrace::sharding {

bool Axis::overlaps(const Axis &other) const {
  if (axis != other.axis)
    return false;
  // An axis of one device has no extent, yet is used once only.
  return *this == other || (pre < other.end() && other.pre < end());
}

int64_t productOf(AxesRef axes) {
  int64_t product = 1;
  for (const Axis &axis : axes)
    product *= axis.size;
  return product;
}

std::optional<Axis> withoutOverlap(Axis axis, AxesRef others) {
  for (const Axis &other : others) {
    if (!axis.overlaps(other))
      continue;
    if (axis.pre >= other.pre || other.pre % axis.pre != 0)
      return std::nullopt;
    axis.size = other.pre / axis.pre;
  }
  return axis;
}

void append(Axes &axes, Axis axis) {
  if (!axes.empty() && axes.back().axis == axis.axis && axes.back().end() == axis.pre && axes.back().size > 1)
    axes.back().size *= axis.size;
  else
    axes.push_back(axis);
}

Prefix prefixOf(AxesRef first, AxesRef second) {
  if (first.empty())
    return second.empty() ? Prefix::Equal : Prefix::Strict;
  if (first.size() > second.size() || first.drop_back() != second.take_front(first.size() - 1))
    return Prefix::No;
  const Axis &last = first.back(), &other = second[first.size() - 1];
  if (last == other)
    return first.size() == second.size() ? Prefix::Equal : Prefix::Strict;
  return last.isPrefixOf(other) ? Prefix::Strict : Prefix::No;
}

bool TensorSharding::isEmpty() const {
  return all_of(dims, [](const DimSharding &dim) { return dim.axes.empty(); });
}

} // namespace millrace::sharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardSteps.cpp - A change of sharding as collectives -------------===//
#include "passes/sharding/reshard/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace millrace::sharding {

void align(DimAxes &a, DimAxes &b) {
  SmallVector<Axis> all;
  for (const DimAxes *side : {&a, &b})
    for (const Axes &axes : *side)
      all.append(axes.begin(), axes.end());
  for (DimAxes *side : {&a, &b})
    for (Axes &axes : *side) {
      Axes cut;
      for (Axis axis : axes) {
        SmallVector<int64_t> ends{axis.end()};
        for (const Axis &other : all)
          if (other.axis == axis.axis)
            for (int64_t at : {other.pre, other.end()})
              if (at > axis.pre && at < axis.end() && at % axis.pre == 0 && axis.end() % at == 0)
                ends.push_back(at);
        llvm::sort(ends);
        int64_t begin = axis.pre;
        for (int64_t end : ends)
          if (end > begin && end % begin == 0) {
            cut.push_back({axis.axis, begin, end / begin});
            begin = end;
          }
      }
      axes = cut;
    }
}

namespace {

size_t commonPrefix(AxesRef a, AxesRef b) {
  size_t length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length])
    ++length;
  return length;
}

struct Search {
  DimAxes now, target;
  std::vector<ReshardStep> steps;

  bool isUsed(const Axis &axis) const {
    return any_of(now, [&](const Axes &axes) { return any_of(axes, [&](const Axis &other) { return other.overlaps(axis); }); });
  }

  void add(ReshardStep step) {
    step.result = now;
    steps.push_back(std::move(step));
  }

  /// Every device keeps a part of what it has.
  void slice() {
    ReshardStep step{ReshardStep::Kind::Slice, DimAxes(now.size()), {}, 0, 0, {}};
    bool any = false;
    for (auto [dim, axes] : enumerate(now)) {
      if (commonPrefix(axes, target[dim]) != axes.size())
        continue;
      for (const Axis &axis : AxesRef(target[dim]).drop_front(axes.size())) {
        if (isUsed(axis))
          break;
        axes.push_back(axis);
        step.axes[dim].push_back(axis);
        any = true;
      }
    }
    if (any)
      add(step);
  }

  /// A dimension in as many parts as before, on other devices.
  void permute() {
    DimAxes after = now;
    bool any = false;
    for (auto [dim, axes] : enumerate(now))
      if (axes != target[dim] && productOf(axes) == productOf(target[dim])) {
        after[dim] = target[dim];
        any = true;
      }
    // No axis may come to be used twice.
    SmallVector<Axis> used;
    for (const Axes &axes : after)
      for (const Axis &axis : axes) {
        if (any_of(used, [&](const Axis &other) { return other.overlaps(axis); }))
          return;
        used.push_back(axis);
      }
    if (!any)
      return;
    now = after;
    add({ReshardStep::Kind::Permute, {}, {}, 0, 0, {}});
  }

  /// Axes at the end of one dimension that another needs next.
  bool exchange() {
    for (auto [from, axes] : enumerate(now))
      for (auto [to, others] : enumerate(now)) {
        size_t kept = commonPrefix(axes, target[from]);
        if (from == to || kept == axes.size() || commonPrefix(others, target[to]) != others.size())
          continue;
        AxesRef missing = AxesRef(target[to]).drop_front(others.size());
        for (size_t begin = kept; begin < axes.size(); ++begin) {
          AxesRef tail = AxesRef(axes).drop_front(begin);
          if (tail.size() > missing.size() || missing.take_front(tail.size()) != tail)
            continue;
          Axes moved(tail.begin(), tail.end());
          axes.truncate(begin);
          others.append(moved.begin(), moved.end());
          add({ReshardStep::Kind::Exchange, {}, moved, int64_t(from), int64_t(to), {}});
          return true;
        }
      }
    return false;
  }

  /// Gathers axes that are last in a dimension and not wanted there.
  void gather() {
    ReshardStep step{ReshardStep::Kind::Gather, DimAxes(now.size()), {}, 0, 0, {}};
    bool any = false;
    for (auto [dim, axes] : enumerate(now)) {
      size_t kept = commonPrefix(axes, target[dim]);
      for (const Axis &axis : AxesRef(axes).drop_front(kept))
        step.axes[dim].push_back(axis);
      any |= kept != axes.size();
      axes.truncate(kept);
    }
    if (any)
      add(step);
  }
};

/// Joins the parts that were cut for comparison.
void join(DimAxes &dims) {
  for (Axes &axes : dims) {
    Axes joined;
    for (const Axis &axis : axes)
      append(joined, axis);
    axes = joined;
  }
}

} // namespace

std::optional<std::vector<ReshardStep>> stepsBetween(const DimAxes &from, const DimAxes &to) {
  Search search{from, to, {}};
  align(search.now, search.target);
  // Axes that a gather frees can slice in a second round.
  for (int round = 0; round < 2 && search.now != search.target; ++round) {
    search.slice();
    search.permute();
    while (search.exchange()) {
    }
    search.gather();
  }
  search.slice();
  if (search.now != search.target)
    return std::nullopt;
  for (ReshardStep &step : search.steps) {
    join(step.axes);
    join(step.result);
    DimAxes moved{step.moved};
    join(moved);
    step.moved = moved[0];
  }
  return search.steps;
}

} // namespace millrace::sharding

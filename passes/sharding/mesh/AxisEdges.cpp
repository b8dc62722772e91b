// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AxisEdges.cpp - Which axis came from where in one step -------------===//
#include "passes/sharding/mesh/AxisEdges.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace millrace::sharding {
namespace {

SmallVector<const ProjectedTensor *> placesOf(const Projection &projection) {
  SmallVector<const ProjectedTensor *> places;
  for (auto *side : {&projection.operands, &projection.results})
    for (const ProjectedTensor &tensor : *side)
      places.push_back(&tensor);
  return places;
}

/// Returns the first tensor that had all of the axes; -1 if there is none.
int firstWith(AxesRef axes, int factor, ArrayRef<const ProjectedTensor *> before) {
  for (auto [place, tensor] : enumerate(before))
    if (const FactorAxes *there = tensor->find(factor); there && prefixOf(axes, there->axes) != Prefix::No)
      return int(place);
  return -1;
}

} // namespace

SmallVector<AxisEdge> axisEdges(const Rule &rule, const Projection &before, const Projection &after) {
  SmallVector<AxisEdge> edges;
  SmallVector<const ProjectedTensor *> old = placesOf(before), now = placesOf(after);
  for (size_t place = 0; place < now.size(); ++place) {
    const TensorFactors &dims =
        place < rule.operands.size() ? rule.operands[place] : rule.results[place - rule.operands.size()];
    size_t begin = edges.size();
    auto ofPlace = [&](const Axis &axis) {
      return find_if(drop_begin(edges, begin), [&](const AxisEdge &each) { return each.axis == axis; });
    };
    for (auto [dim, factors] : enumerate(dims)) {
      std::optional<Axis> previous;
      for (int factor : factors) {
        const FactorAxes *was = old[place]->find(factor), *is = now[place]->find(factor);
        if (!was || !is || was->axes == is->axes)
          continue;
        Axes added = is->axes;
        if (previous && previous->axis == added.back().axis && previous->end() == added.back().pre) {
          if (auto *part = ofPlace(*previous); part != edges.end())
            edges.erase(part);
          added.back() = {previous->axis, previous->pre, previous->size * added.back().size};
        }
        previous = is->axes.back();
        int source = firstWith(is->axes, factor, old);
        if (source < 0)
          continue;
        auto add = [&](const Axis &axis) {
          if (ofPlace(axis) == edges.end())
            edges.push_back({axis, int(dim), factor, source, int(place)});
        };
        // The last one of before may have grown.
        size_t known = was->axes.size();
        if (known && was->axes.back() != added[known - 1])
          add(added[known - 1]);
        for (const Axis &axis : AxesRef(added).drop_front(known))
          add(axis);
      }
    }
  }
  return edges;
}

} // namespace millrace::sharding

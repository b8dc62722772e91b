// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Assign.cpp - One choice of axes for every factor of an operation ---===//
#include "passes/sharding/propagation/Assign.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace millrace::sharding {
namespace {

/// Axes that some tensors have on a factor.
struct Candidate {
  int factor;
  Axes axes;
  int64_t elements = 0; ///< of the tensors that have them there
};

/// Returns the candidate's axes that are not assigned yet.
Axes remaining(const Candidate &candidate, ArrayRef<Axes> assigned) {
  Axes result;
  for (const Axis &axis : candidate.axes) {
    std::optional<Axis> left = axis;
    for (auto [factor, axes] : enumerate(assigned))
      if (left && int(factor) != candidate.factor)
        left = withoutOverlap(*left, axes);
    if (left)
      result.push_back(*left);
    if (!left || *left != axis)
      break;
  }
  return result;
}

/// Of every factor, those before it in a dimension that they share. It is only cut once they are cut to the end: what a device
/// would hold is no part of the dimension else.
SmallVector<SmallVector<int>> precedingFactors(const Projection &projection, size_t count) {
  SmallVector<SmallVector<int>> preceding(count);
  for (auto *side : {&projection.operands, &projection.results})
    for (const ProjectedTensor &tensor : *side) {
      SmallVector<int> before;
      for (const FactorAxes &each : tensor.factors) {
        append_range(preceding[each.factor], before);
        before.push_back(each.factor);
        if (each.minorMost)
          before.clear();
      }
    }
  return preceding;
}

} // namespace

SmallVector<Axes> assignFactors(const Projection &projection, ArrayRef<Factor> factors, ArrayRef<int64_t> sizes) {
  SmallVector<Candidate> candidates;
  SmallVector<std::pair<int64_t, const ProjectedTensor *>> tensors;
  for (auto *side : {&projection.operands, &projection.results})
    for (const ProjectedTensor &tensor : *side) {
      int64_t elements = 1;
      for (const FactorAxes &each : tensor.factors)
        elements *= factors[each.factor].size;
      tensors.push_back({sizes.empty() ? elements : sizes[tensors.size()], &tensor});
      for (const FactorAxes &each : tensor.factors) {
        FactorKind kind = factors[each.factor].kind;
        bool same = any_of(candidates, [&](const Candidate &other) {
          return other.factor == each.factor && other.axes == each.axes;
        });
        if (!each.axes.empty() && !same && kind != FactorKind::NeedReplication)
          candidates.push_back({each.factor, each.axes});
      }
    }
  for (Candidate &candidate : candidates)
    for (auto [elements, tensor] : tensors)
      if (const FactorAxes *here = tensor->find(candidate.factor);
          here && prefixOf(candidate.axes, here->axes) != Prefix::No)
        candidate.elements += elements;
  SmallVector<Axes> assigned(factors.size());
  auto better = [&](const Candidate &a, const Candidate &b) {
    auto key = [&](const Candidate &each) {
      return std::tuple(each.elements, factors[each.factor].kind == FactorKind::PassThrough, productOf(each.axes));
    };
    if (key(a) != key(b))
      return key(a) > key(b);
    // As Shardy decides between equals.
    if (a.factor != b.factor)
      return a.factor > b.factor;
    return std::lexicographical_compare(b.axes.begin(), b.axes.end(), a.axes.begin(), a.axes.end());
  };
  SmallVector<SmallVector<int>> preceding = precedingFactors(projection, factors.size());
  auto isReady = [&](const Candidate &each) {
    return all_of(preceding[each.factor], [&](int before) { return productOf(assigned[before]) >= factors[before].size; });
  };
  while (!candidates.empty()) {
    Candidate *best = nullptr;
    for (Candidate &each : candidates)
      if (isReady(each) && (!best || better(each, *best)))
        best = &each;
    if (!best)
      break;
    assigned[best->factor] = best->axes;
    // Others lose what is taken; those of the same factor must go on where this one ends.
    for (Candidate &each : candidates) {
      each.axes = remaining(each, assigned);
      if (prefixOf(assigned[each.factor], each.axes) != Prefix::Strict)
        each.axes.clear();
    }
    erase_if(candidates, [](const Candidate &each) { return each.axes.empty(); });
  }
  return assigned;
}

void moveToWholeFactors(const Projection &projection, ArrayRef<Factor> factors, MutableArrayRef<Axes> assigned) {
  SmallVector<const ProjectedTensor *> tensors;
  for (auto *side : {&projection.operands, &projection.results})
    for (const ProjectedTensor &tensor : *side)
      if (!tensor.factors.empty())
        tensors.push_back(&tensor);
  for (auto [number, factor] : enumerate(factors)) {
    if (factor.kind != FactorKind::NeedReplication || tensors.empty() ||
        !all_of(tensors, [&](const ProjectedTensor *tensor) { return tensor->find(number); }))
      continue;
    Axes common = tensors.front()->find(number)->axes;
    for (const ProjectedTensor *tensor : tensors) {
      const Axes &here = tensor->find(number)->axes;
      size_t same = 0;
      while (same < common.size() && same < here.size() && common[same] == here[same])
        ++same;
      common.resize(same);
    }
    for (const Axis &axis : common) {
      if (any_of(assigned, [&](const Axes &axes) { return any_of(axes, [&](const Axis &other) { return other.overlaps(axis); }); }))
        continue;
      for (auto [other, axes] : zip_equal(factors, assigned))
        if (other.kind == FactorKind::PassThrough && other.size % (productOf(axes) * axis.size) == 0) {
          if (!axes.empty() && axes.back().axis == axis.axis && axes.back().end() == axis.pre)
            axes.back().size *= axis.size;
          else
            axes.push_back(axis);
          break;
        }
    }
  }
}

TensorSharding shardingOf(const TensorFactors &dims, ArrayRef<Factor> factors, ArrayRef<Axes> assigned) {
  ProjectedTensor tensor;
  for (const DimFactors &dim : dims)
    for (auto [i, factor] : enumerate(dim)) {
      FactorAxes &here = tensor.factors.emplace_back();
      here.factor = factor;
      here.axes = assigned[factor];
      here.closed = true;
      here.minorMost = i + 1 == dim.size();
    }
  return unproject(tensor, dims, factors);
}

} // namespace millrace::sharding

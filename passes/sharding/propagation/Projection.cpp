// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Projection.cpp - From axes of dimensions to axes of factors and back -===//
#include "passes/sharding/propagation/Projection.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace millrace::sharding {

FactorAxes *ProjectedTensor::find(int factor) {
  FactorAxes *found = find_if(factors, [&](const FactorAxes &each) { return each.factor == factor; });
  return found == factors.end() ? nullptr : found;
}

namespace {

/// Axes not handed out yet; the first may have been cut.
class Remaining {
public:
  explicit Remaining(AxesRef axes) : axes(axes) {
    if (!axes.empty())
      first = axes.front();
  }
  bool empty() const { return axes.empty(); }
  int64_t firstSize() const { return first.size; }
  /// The first `size` of the first axis.
  Axis take(int64_t size) {
    Axis taken{first.axis, first.pre, size};
    if (size == first.size) {
      axes = axes.drop_front();
      if (!axes.empty())
        first = axes.front();
    } else {
      first = {first.axis, first.pre * size, first.size / size};
    }
    return taken;
  }
  void takeAll(Axes &target) {
    while (!empty())
      append(target, take(first.size));
  }

private:
  AxesRef axes;
  Axis first;
};

} // namespace

ProjectedTensor project(const TensorSharding *sharding, const TensorFactors &dims, ArrayRef<Factor> factors) {
  ProjectedTensor result;
  for (auto [dim, dimFactors] : enumerate(dims)) {
    Remaining left(sharding ? AxesRef(sharding->dims[dim].axes) : AxesRef());
    bool closed = sharding && sharding->dims[dim].closed, overflows = false;
    for (auto [i, factor] : enumerate(dimFactors)) {
      FactorAxes &here = result.factors.emplace_back();
      here.factor = factor;
      here.minorMost = i + 1 == dimFactors.size();
      here.closed = closed || overflows;
      if (overflows)
        continue;
      if (here.minorMost) {
        left.takeAll(here.axes);
        continue;
      }
      int64_t size = factors[factor].size;
      while (!left.empty()) {
        int64_t common = left.firstSize() == 1 ? 1 : std::gcd(size, left.firstSize());
        if (common == 1 && left.firstSize() != 1)
          break;
        here.axes.push_back(left.take(common));
        size /= common;
      }
      if (size > 1 && !left.empty()) {
        overflows = true;
        left.takeAll(here.overflow);
      }
    }
  }
  if (sharding) {
    result.replicated = sharding->replicated;
    result.unreduced = sharding->unreduced;
  }
  return result;
}

TensorSharding unproject(const ProjectedTensor &tensor, const TensorFactors &dims, ArrayRef<Factor> factors) {
  TensorSharding result;
  result.replicated = tensor.replicated;
  result.unreduced = tensor.unreduced;
  auto add = [](Axes &target, AxesRef axes) {
    // Only where two factors meet can parts of one axis be neighbours.
    for (auto [i, axis] : enumerate(axes))
      i == 0 ? append(target, axis) : target.push_back(axis);
  };
  for (const DimFactors &dimFactors : dims) {
    DimSharding &dim = result.dims.emplace_back();
    for (int factor : dimFactors) {
      const FactorAxes &here = *tensor.find(factor);
      dim.closed |= here.closed;
      add(dim.axes, here.axes);
      if (!here.overflow.empty()) {
        add(dim.axes, here.overflow);
        break;
      }
      if (productOf(here.axes) < factors[factor].size)
        break;
    }
  }
  return result;
}

} // namespace millrace::sharding

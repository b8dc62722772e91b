// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Barriers.cpp - Optimization barriers --------------------------------===//
#include "tracing/emit/Emit.h"

namespace millrace::tracing {

void registerBarriers(Registry &r) {
  // Returns a list of tensors unchanged. All of them are computed before any operation that uses one of them.
  r.add({"millrace::optimization_barrier"}, [](const Call &c) -> std::vector<Val> {
    std::vector<Val> values;
    std::vector<Shape> shapes;
    for (const std::optional<Val> &value : c.vals(0)) {
      values.push_back(*value);
      shapes.push_back(value->shape);
    }
    return c.e.ops("stablehlo.optimization_barrier", values, {}, shapes);
  });
}

} // namespace millrace::tracing

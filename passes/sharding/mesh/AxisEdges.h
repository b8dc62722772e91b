// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AxisEdges.h - Which axis came from where in one step ---------------===//
#pragma once

#include "passes/sharding/propagation/Projection.h"

namespace millrace::sharding {

/// An axis that a tensor got in a step. Places are operands, then results.
struct AxisEdge {
  Axis axis; ///< as the target's dimension has it: parts of it that two factors got are one
  int dim;   ///< of the target
  int factor;
  int source, target;
};

/// Returns the axes that a step added: along a factor all new axes come from the first tensor that had them before, or more.
llvm::SmallVector<AxisEdge> axisEdges(const Rule &rule, const Projection &before, const Projection &after);

} // namespace millrace::sharding

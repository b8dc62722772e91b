// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Obstacles.h - Why an axis did not reach a tensor -------------------===//
#pragma once

#include "passes/sharding/propagation/Step.h"

namespace millrace::sharding {

/// The reason why a tensor does not get the axes that another tensor of the operation has along a factor.
enum class Obstacle {
  Blocked,      ///< the rule: nothing propagates along the factor
  Direction,    ///< a barrier
  Disagreement, ///< `other` has other axes along the factor
  Closed,       ///< the dimension
  Kept,         ///< the tensor is annotated as replicated, or unreduced, along the axis
  Taken,        ///< the axis splits dimension `other` of the tensor
  Uneven,       ///< the axis does not divide the factor, which is not the last of its dimension
  Follows,      ///< element by element: `other`, a result, could not take it
  Unfinished    ///< none of these
};

struct Missing {
  int dim, factor;
  int source; ///< a place that has axes; operands, then results
  Axes axes;
  Obstacle why;
  int other = -1;
};

/// For every factor of the tensor at `place` that is not split, though it is elsewhere: what is in the way.
llvm::SmallVector<Missing> missingAxes(const Rule &rule, const Projection &projection, llvm::ArrayRef<Direction> directions,
                                       int place, bool elementwise);

} // namespace millrace::sharding

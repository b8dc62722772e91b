// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Step.h - Propagation through one operation -------------------------===//
#pragma once

#include "passes/sharding/propagation/Projection.h"

namespace millrace::sharding {

/// From operands to results, from results to operands. Bits.
enum class Direction { None = 0, Forward = 1, Backward = 2, Both = 3 };
inline Direction operator|(Direction a, Direction b) { return Direction(int(a) | int(b)); }
inline Direction operator&(Direction a, Direction b) { return Direction(int(a) & int(b)); }

struct StepOptions {
  /// Where tensors disagree, decide instead of leaving all of them alone. See propagate.
  bool aggressive = true;
  /// Only whole axes are added.
  bool conservative = false;
  /// The operation works element by element: of two conflicting factors the more finely split one wins, and an operand
  /// does not take from another one what the result could not take.
  bool elementwise = false;
};

/// Returns the axes on which all tensors can agree along the factor, among those of tensors that may give.
Axes compatibleAxes(const Projection &projection, int factor, Direction direction);

/// Axes that were added to a factor of a tensor (operands counted first).
struct Added {
  int tensor, factor;
  Axes axes;
};

/// Adds axes to factors where that contradicts no existing sharding: along a factor all tensors get the axes of those that may give, major first, as
/// far as they agree.
/// Basic: an axis that some tensor cannot take, because it is closed, replicates the axis or uses it for another factor, is given to no tensor.
/// Aggressive: every tensor takes the axes that it can. Of two factors that want one axis the one whose largest source is larger comes first, then
/// (elementwise) the more finely sharded one, then the earlier source, then the earlier factor.
/// Returns the axes that were added; empty if there are none.
llvm::SmallVector<Added> propagate(Projection &projection, llvm::ArrayRef<Direction> directions,
                                   llvm::ArrayRef<Factor> factors, llvm::ArrayRef<int64_t> mesh,
                                   const StepOptions &options);

} // namespace millrace::sharding

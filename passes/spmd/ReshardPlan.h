// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardPlan.h - Which collectives change a placement ---------------===//
// Plain data.
#pragma once

#include "passes/sharding/ReshardSteps.h"
#include "passes/spmd/Placement.h"

namespace millrace::spmd {

struct Move {
  using Kind = sharding::ReshardStep::Kind;
  Kind kind;
  Placement result;        ///< where the tiles are afterwards
  size_t from = 0, to = 0; ///< Exchange: the dimension that is cut less and the one that is cut more; Gather: `from` alone
};

/// The moves that lead from one placement of a tensor of `shape` to another, both uniform in the scope: of the ways known, the
/// one that brings the fewest elements to a device.
std::vector<Move> planReshard(const Placement &from, const Placement &target, llvm::ArrayRef<int64_t> shape, const Scope &scope);

} // namespace millrace::spmd

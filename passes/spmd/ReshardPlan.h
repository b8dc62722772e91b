// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardPlan.h - Which collectives change a placement ---------------===//
// Plain data.
#pragma once

#include "passes/spmd/Placement.h"

namespace millrace::spmd {

struct Move {
  enum class Kind {
    Slice,    ///< every device keeps a part of what it has
    Permute,  ///< as many tiles as before, on other devices
    Exchange, ///< a cut goes from one dimension to another
    Gather,   ///< tiles become larger, by whole ones
    Fetch     ///< other boundaries between tiles
  } kind;
  Placement result;        ///< where the tiles are afterwards
  size_t from = 0, to = 0; ///< Exchange: the dimension that is cut less and the one that is cut more; Gather, Fetch: `from` alone
};

/// Elements that the moves bring to a device from others.
int64_t received(llvm::ArrayRef<Move> moves, const Placement &from, llvm::ArrayRef<int64_t> shape, const Scope &scope);

/// The moves that lead from one placement of a tensor of `shape` to another, both uniform in the scope: of the ways known, the
/// one that brings the fewest elements to a device.
std::vector<Move> planReshard(const Placement &from, const Placement &target, llvm::ArrayRef<int64_t> shape, const Scope &scope);

} // namespace millrace::spmd

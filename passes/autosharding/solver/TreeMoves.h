// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TreeMoves.h - The best choices of a tree in the core, exactly ------===//
// A connected part of the core without cycles is optimal for what surrounds it after one pass from its leaves to its root (elimination of
// nodes of degree one) and one back. The rest stays as it is, but for what hangs on the core, which follows.
#pragma once

#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/Random.h"
#include "passes/autosharding/solver/State.h"

namespace millrace::autosharding {

class TreeMoves {
public:
  TreeMoves(const Model &model, const Forest &forest);

  /// Grows a random tree of at most `most` nodes from a node of the core. Returns the number of costs that `solve` will read.
  uint64_t grow(uint32_t start, uint32_t most, Random &random);
  /// Computes the best choices for the folded costs. Where several are best, the present one is.
  void solve(const FoldedForest &folded, const State &state);
  /// The changes, in connected groups: each is worth making without the others. They name nodes of the core only.
  const std::vector<std::vector<Change>> &groups() const { return found; }

private:
  struct Member {
    uint32_t place;
    uint32_t parent;  ///< member, itself for the root
    const Link *link; ///< to the parent
    size_t values;    ///< where its costs are
    uint32_t choice;
    uint32_t group;
  };

  const Model &model;
  const Forest &forest;
  std::vector<Member> members;
  std::vector<std::pair<uint32_t, uint32_t>> border; ///< place, member it was reached from
  std::vector<uint32_t> stamp, touches, memberOf;    ///< place -> tree in which it was met last, links to members then, its member
  uint32_t tree = 0;
  std::vector<double> values;
  std::vector<std::vector<Change>> found;
};

} // namespace millrace::autosharding

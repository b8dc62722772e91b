// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TreeMoves.h - The exact best choices of a tree in the core ---------===//
// A connected part of the core without cycles gets optimal choices for its surroundings by one pass from its leaves to its root (elimination of nodes
// of degree one) and one pass back. The surroundings stay unchanged, except for trees that are attached to the core, which adapt.
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
  /// Computes the best choices for the folded costs; of several best ones the current choice is kept.
  void solve(const FoldedForest &folded, const State &state);
  /// Returns the changes, in connected groups that improve the cost independently of each other. They contain nodes of the core only.
  const std::vector<std::vector<Change>> &groups() const { return found; }

private:
  struct Member {
    uint32_t place;
    uint32_t parent;  ///< member, itself for the root
    const EdgeEnd *link; ///< link to the parent
    size_t values;    ///< position of its costs
    uint32_t choice;
    uint32_t group;
  };

  const Model &model;
  const Forest &forest;
  std::vector<Member> members;
  std::vector<std::pair<uint32_t, uint32_t>> border; ///< places, and the members from which they were reached
  std::vector<uint32_t> stamp, touches, memberOf;    ///< place -> last tree that reached it, its number of links to members then, its member
  uint32_t tree = 0;
  std::vector<double> values, leasts; ///< leasts: beside each row of a table
  std::vector<std::vector<Change>> found;
};

} // namespace millrace::autosharding

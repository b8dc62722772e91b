// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionMoves.h - New choices for a region of the core ---------------===//
// A region with cycles can be changed where a tree cannot, because its surroundings determine a tree's choices. Messages pass within the region,
// while everything else stays unchanged, until their bound shows that the current choices are the best ones or the passes are used up; then its nodes
// choose anew.
#pragma once

#include "passes/autosharding/solver/Decode.h"
#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/State.h"

namespace millrace::autosharding {

class RegionMoves {
public:
  RegionMoves(const Model &model, const Forest &forest);

  /// Chooses the nodes nearest to `start`, at most `most`.
  void growBall(uint32_t start, uint32_t most);
  /// Chooses the nodes of the core from position `start` on, which are neighbours in the program's order.
  void growWindow(uint32_t start, uint32_t most);
  /// Proposes choices for the folded costs, each raised by up to `noise`. Returns the number of costs read.
  uint64_t solve(const FoldedForest &folded, const State &state, uint32_t passes, double noise, Random &random);
  /// Returns the changes, in connected groups without edges between them.
  const std::vector<std::vector<Change>> &groups() const { return found; }
  const std::vector<uint32_t> &nodes() const { return region; }

private:
  void split(const State &state);

  const Model &model;
  const Forest &forest;
  MessagePassing messages;
  Decoder decoder;
  std::vector<uint32_t> region; ///< nodes
  std::vector<uint8_t> inside;  ///< node -> whether it is in the region
  std::vector<double> cost;     ///< choice -> cost for the current choices of the surroundings
  std::vector<uint32_t> proposal, order;
  std::vector<std::vector<Change>> found;
  std::vector<uint8_t> seen;
};

} // namespace millrace::autosharding

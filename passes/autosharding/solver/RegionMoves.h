// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionMoves.h - New choices for a region of the core ---------------===//
// What a tree cannot change, because cycles hold it in place, a region with its cycles can: messages pass within the region while the rest stays
// as it is, until their bound shows that the present choices are the best ones or the passes are used up; then its nodes choose anew.
#pragma once

#include "passes/autosharding/solver/Decode.h"
#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/State.h"

namespace millrace::autosharding {

class RegionMoves {
public:
  RegionMoves(const Model &model, const Forest &forest);

  /// The nodes nearest to `start`, at most `most`.
  void growBall(uint32_t start, uint32_t most);
  /// The nodes of the core from position `start` on: neighbours in the program's order.
  void growWindow(uint32_t start, uint32_t most);
  /// Proposes choices for the folded costs, each raised by up to `noise`. Returns the number of costs read.
  uint64_t solve(const FoldedForest &folded, const State &state, uint32_t passes, double noise, Random &random);
  /// The changes, in connected groups that do not touch each other.
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
  std::vector<double> cost;     ///< choice -> cost with the surroundings as they are
  std::vector<uint32_t> proposal, order;
  std::vector<std::vector<Change>> found;
  std::vector<uint8_t> seen;
};

} // namespace millrace::autosharding

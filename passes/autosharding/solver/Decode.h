// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decode.h - Derive choices from messages -----------------------------===//
// Nodes choose one after the other the choice of least cost, given the choices that have been made and the messages of the other nodes. Choices that
// become impossible elsewhere are removed at once (arc consistency), so that the result has no impossible pairs unless the search fails: a choice
// that leaves some node without any is taken back, but earlier ones are not.
#pragma once

#include "passes/autosharding/solver/MessagePassing.h"
#include "passes/autosharding/solver/Random.h"

namespace millrace::autosharding {

class Decoder {
public:
  explicit Decoder(const Model &model) : model(model), alive(model.cost.size(), 1) {}

  /// The part's nodes choose in the given order (of places, each once), for `cost` (choice of the model -> cost; at least `model.impossible` for an
  /// impossible one). Each cost is raised by a random number up to `noise`. Returns true if all pairs are possible; if not, some choices are the best
  /// ones without regard to that.
  bool decode(const MessagePassing &messages, const std::vector<double> &cost, const std::vector<uint32_t> &order, double noise, Random &random,
              std::vector<uint32_t> &choices);
  uint64_t work() const { return reads; } ///< approximate number of costs that the last call read

private:
  bool fix(const MessagePassing &messages, uint32_t place, uint32_t choice);
  bool spread(const MessagePassing &messages);
  bool revise(const MessagePassing::Neighbour &to, uint32_t node);

  const Model &model;
  std::vector<uint8_t> alive;                      ///< choice -> whether it is still possible
  std::vector<uint32_t> count;                     ///< place -> number of possible choices
  std::vector<std::pair<uint32_t, uint32_t>> trail; ///< places and choices that were removed since the last decision
  std::vector<uint32_t> queue;
  std::vector<uint8_t> waits, open;
  uint64_t reads = 0;
};

} // namespace millrace::autosharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decode.h - Choices from messages -----------------------------------===//
// Nodes choose one after the other what is least for those that have chosen and for what the messages tell of the others. What a
// choice makes impossible elsewhere is removed at once (arc consistency), so that the result has no impossible pairs unless the search for
// it fails: a choice that leaves some node without any is taken back, but earlier ones are not.
#pragma once

#include "passes/autosharding/solver/MessagePassing.h"
#include "passes/autosharding/solver/Random.h"

namespace millrace::autosharding {

class Decoder {
public:
  explicit Decoder(const Model &model) : model(model), alive(model.cost.size(), 1) {}

  /// The part's nodes choose in the order given (of places, each once), for `cost` (choice of the model -> cost; at least `model.impossible` for
  /// one that cannot be). A cost is raised by up to `noise`, drawn anew. Returns whether all pairs are possible; if not, some choices are what
  /// looked best without regard to that.
  bool decode(const MessagePassing &messages, const std::vector<double> &cost, const std::vector<uint32_t> &order, double noise, Random &random,
              std::vector<uint32_t> &choices);
  uint64_t work() const { return reads; } ///< costs read by the last call, roughly

private:
  bool fix(const MessagePassing &messages, uint32_t place, uint32_t choice);
  bool spread(const MessagePassing &messages);
  bool revise(const MessagePassing::Neighbour &to, uint32_t node);

  const Model &model;
  std::vector<uint8_t> alive;                      ///< choice -> still possible
  std::vector<uint32_t> count;                     ///< place -> choices that are
  std::vector<std::pair<uint32_t, uint32_t>> trail; ///< place and choice, removed since the last decision
  std::vector<uint32_t> queue;
  std::vector<uint8_t> waits, open;
  uint64_t reads = 0;
};

} // namespace millrace::autosharding

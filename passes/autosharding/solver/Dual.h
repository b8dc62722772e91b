// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dual.h - Maximize the lower bound of prices and messages ------------===//
// Prices and messages improve together: a pass of messages for the current prices, choices from the messages, a step of the prices along the loads of
// these choices. When the bound has not grown for some passes, the best prices are restored and steps become shorter.
#pragma once

#include "passes/autosharding/solver/Decode.h"
#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/LowerBound.h"

namespace millrace::autosharding {

class Dual {
public:
  Dual(const Model &model, const Forest &forest, uint64_t seed);

  /// Runs until about `work` costs were read. `known` is the cost of the best known solution, infinity without one.
  void run(uint64_t work, double known);
  /// Returns other choices for the best prices: those that the messages suggest when costs are raised by up to `noise`.
  std::vector<uint32_t> suggest(double noise);
  /// Proves a bound for the best prices. The largest proved bound is kept.
  void prove();

  const std::optional<Total> &proved() const { return provedBound; }
  double bound() const { return best; } ///< the bound in floating point
  const Prices &prices() const { return bestPrices; }
  bool settled() const; ///< steps have become so short that the bound will hardly grow
  uint64_t passes() const { return count; }

private:
  void pass(const Prices &now);

  const Model &model;
  const Forest &forest;
  MessagePassing messages;
  Decoder decoder;
  Random random;
  Prices current, bestPrices;
  FoldedForest folded;
  std::vector<double> priced;
  std::vector<uint32_t> choices, order;
  std::optional<Total> provedBound;
  double value = 0; ///< the bound for the prices of the last pass
  double best = -std::numeric_limits<double>::infinity();
  double length; ///< length of a step as a share of the gap
  uint32_t idle = 0;
  uint64_t count = 0;
};

} // namespace millrace::autosharding

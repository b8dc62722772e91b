// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dual.h - The largest lower bound that prices and messages reach ----===//
// Prices and messages improve together: a pass of messages for the present prices, choices from the messages, a step of the prices along the
// loads of these choices. When the bound has not grown for some passes the best prices come back and steps become shorter.
#pragma once

#include "passes/autosharding/solver/Decode.h"
#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/LowerBound.h"

namespace millrace::autosharding {

class Dual {
public:
  Dual(const Model &model, const Forest &forest, uint64_t seed);

  /// Works until about `work` costs were read. `known`: the cost of the best solution known, infinity without one.
  void run(uint64_t work, double known);
  /// Other choices for the best prices: what the messages suggest when costs are raised by up to `noise`.
  std::vector<uint32_t> suggest(double noise);
  /// Proves a bound for the best prices; the largest one proved so far is kept.
  void prove();

  const std::optional<Total> &proved() const { return provedBound; }
  double bound() const { return best; } ///< in floating point
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
  double length; ///< of a step, as a share of the gap
  uint32_t idle = 0;
  uint64_t count = 0;
};

} // namespace millrace::autosharding

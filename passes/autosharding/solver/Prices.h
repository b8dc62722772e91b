// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Prices.h - Lagrange multipliers of the memory limit -----------------===//
// A price per byte at a maximal time is the multiplier of the limit there. For non-negative prices
//   min over choices of (cost + sum over times of price * (load - room))
// is at most the cost of the best solution within the limit, because every load of such a solution is at most the room. The prices that maximize this
// bound are found by steps along loads minus rooms (subgradients; Held, Wolfe, Crowder 1974), with the step length of Polyak (1969).
#pragma once

#include "passes/autosharding/solver/Model.h"

namespace millrace::autosharding {

struct Prices {
  explicit Prices(const Model &model) : perByte(model.room.size(), 0.0) {}

  std::vector<double> perByte; ///< maximal time -> price of a byte, at least 0

  /// Computes choice -> cost plus `scale` times its price.
  void apply(const Model &model, double scale, std::vector<double> &priced) const;
  /// Returns the sum over times of price * room, with which the prices of a solution's bytes are compared.
  double ofRoom(const Model &model) const;
  /// Makes a step of `length` (in cost) along `loads`: prices rise where bytes are missing and fall where there is room. Among times without a price
  /// only the fullest of each range of overfull times gets one, because its neighbours have nearly the same nodes and would count them twice.
  void step(const Model &model, const std::vector<int64_t> &loads, double length);
};

/// Returns the bytes of `usage` at every maximal time.
std::vector<int64_t> loadsOf(const Model &model, const std::vector<uint32_t> &choices);

} // namespace millrace::autosharding

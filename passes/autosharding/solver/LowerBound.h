// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerBound.h - Proved lower bound of the cost -----------------------===//
// The bound is computed from messages and prices and holds for any of them; its quality depends on them.
//
// Proof. Trees that are attached to the core are folded exactly. A vector alpha of any numbers over the choices of an edge's later node i is taken
// from the node and given to the edge. Of the edge's (i, j) new costs,
//   beta(l) = min over k of (theta(k, l) + alpha(k))
// is taken and given to its earlier node j. The rest at the edge is theta + alpha - beta >= 0 for all pairs, with any alpha. The sum of all costs of
// a solution is unchanged, so that it is at least the sum over nodes of the least remaining cost of each:
//   cost(x) + price(x) >= sum over i of min over k of (theta_i(k) - sum of alphas taken + sum of betas given).
// alpha is the message of message passing, rounded to multiples of 2^-d. Then all other numbers are such multiples, too: costs are integers, and
// prices are rounded to them. A price per byte is p_t / 2^s with an integer p_t, and a choice's price is rounded down, so that for each solution
// within the limit
//   price(x) <= sum over t of p_t / 2^s * load_t <= sum over t of p_t / 2^s * room_t;
// this, rounded up, is subtracted. double represents multiples of 2^-d below 2^(53-d) exactly. d is chosen so that no number exceeds that; if one
// does, a smaller d is tried. If d is negative (the picoseconds of a plan for thousands of devices add up to more than 2^53), costs are rounded down
// to multiples of 2^-d before, which makes no solution more expensive. Costs are integers, so that the final bound is rounded up. The number that
// represents an impossible pair is less than infinity and may be rounded, but it is never the minimum, because every choice has a possible partner at
// every neighbour (Reduction.h). So the bound is computed by exact arithmetic and needs no tolerance.
// neighbour (Reduction.h). So the bound comes from exact arithmetic and needs no tolerance.
#pragma once

#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/MessagePassing.h"
#include "passes/autosharding/solver/Prices.h"

#include <optional>

namespace millrace::autosharding {

/// Returns a lower bound on the cost of every solution within the limit. `messages` are those of the core. Returns none if numbers are so large that
/// rounding would remove most costs.
std::optional<Total> proveBound(const Model &model, const Forest &forest, const MessagePassing &messages, const Prices &prices);

} // namespace millrace::autosharding

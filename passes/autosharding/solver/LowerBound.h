// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerBound.h - What no solution can cost less than -----------------===//
// The bound comes from messages and prices, and holds whatever these are; how good it is depends on them.
//
// Proof. Trees that hang on the core are folded exactly. A vector alpha of any numbers over the choices of an edge's later node i is taken from
// the node and given to the edge; of what the edge (i, j) then has,
//   beta(l) = min over k of (theta(k, l) + alpha(k))
// is taken and given to its earlier node j. What stays at the edge is theta + alpha - beta >= 0 for all pairs, with any alpha. The sum of all
// costs of a solution is unchanged, so it is at least the sum over nodes of the least cost that each has in the end:
//   cost(x) + price(x) >= sum over i of min over k of (theta_i(k) - sum of alphas taken + sum of betas given).
// alpha is what message passing would send, rounded to multiples of 2^-d. All other numbers are such multiples then: costs are integers, and
// prices are made so. A price per byte is p_t / 2^s with an integer p_t, and a choice's price is rounded down, so that for each solution within
// the limit
//   price(x) <= sum over t of p_t / 2^s * load_t <= sum over t of p_t / 2^s * room_t;
// this, rounded up, is subtracted. double holds multiples of 2^-d below 2^(53-d) exactly. d is chosen so that none exceeds that; if one does, a
// smaller d is tried. Where d is negative (the picoseconds of a plan for thousands of devices add up to more than 2^53), costs are rounded down to
// multiples of 2^-d before, which makes no solution cost more. Costs are integers, so that the bound is rounded up in the end. What stands for an
// impossible pair is less than infinity and may be rounded, but it is not least anywhere: every choice has a possible partner at every
// neighbour (Reduction.h). So the bound comes from exact arithmetic and needs no tolerance.
#pragma once

#include "passes/autosharding/solver/Forest.h"
#include "passes/autosharding/solver/MessagePassing.h"
#include "passes/autosharding/solver/Prices.h"

#include <optional>

namespace millrace::autosharding {

/// A lower bound on the cost of every solution within the limit. `messages` are those of the core. None if numbers are so large that rounding
/// would leave nothing of most costs.
std::optional<Total> proveBound(const Model &model, const Forest &forest, const MessagePassing &messages, const Prices &prices);

} // namespace millrace::autosharding

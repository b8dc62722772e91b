// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReshardSteps.h - A change of sharding as collectives ---------------===//
#pragma once

#include "passes/sharding/mesh/Axes.h"

#include <vector>

namespace millrace::sharding {

/// Axes of every dimension, major to minor.
using DimAxes = llvm::SmallVector<Axes, 4>;

/// Cuts the axes of both sides where one of the other side begins or ends, so that what overlaps is equal.
void align(DimAxes &a, DimAxes &b);

struct ReshardStep {
  enum class Kind { Slice, Permute, Exchange, Gather } kind;
  DimAxes axes;         ///< Slice: added, Gather: taken away, by dimension
  Axes moved;           ///< Exchange: from the end of dimension `from` to the end of `to`
  int64_t from = 0, to = 0;
  DimAxes result;       ///< how the tensor is split afterwards
};

/// The collectives that lead from one way to split a tensor to another, shrinking first: slices, a permutation where a
/// dimension keeps its number of parts but not its axes, exchanges of axes between dimensions, gathers last. Both sides use
/// parts of axes that are equal or do not overlap; nothing if they do not, or if no such sequence was found.
std::optional<std::vector<ReshardStep>> stepsBetween(const DimAxes &from, const DimAxes &to);

} // namespace millrace::sharding

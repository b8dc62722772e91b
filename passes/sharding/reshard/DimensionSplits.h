// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DimensionSplits.h - Axes of one dimension that go different ways ---===//
#pragma once

#include "passes/sharding/reshard/ReshardSteps.h"

#include <vector>

namespace millrace::sharding {

/// A dimension that becomes several, as many as it has groups of axes that stay together while a sharding changes.
struct DimensionSplit {
  int64_t dim;
  DimAxes from, to;             ///< axes of the new dimensions before and after
  std::vector<int64_t> lengths; ///< of all new dimensions but the last, which has the rest
};

/// Which dimensions to split so that a change from `from` to `to` moves whole dimensions only: one whose axes go to several
/// others, or come from several. Left alone: axes that return to a dimension they have left, dimensions in which axes of
/// others meet them, and new axes in their place that do not divide what goes. Parts of axes overlap only if they are
/// equal (`align`).
std::vector<DimensionSplit> splitsBetween(const DimAxes &from, const DimAxes &to);

} // namespace millrace::sharding

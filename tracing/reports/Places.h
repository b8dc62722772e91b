// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Places.h - Count events by the user's line --------------------------===//
#pragma once
#include "tracing/reports/Analysis.h"

#include <map>

namespace millrace::tracing {

/// Returns the innermost line of the stack that belongs neither to the package nor to PyTorch: "train.py:12", or "".
std::string userPlace(const std::vector<Place> &stack);

/// Counts the event `what` ("compile", "read" of a value, "aten::name" on the CPU) at the user's line if debugLevel() is not 0. `stack` is that of
/// this thread.
void countPlace(const std::string &what, const std::vector<Place> &stack);
/// Returns the counts by event and place ("train.py:12").
std::map<std::pair<std::string, std::string>, int64_t> countedPlaces();

} // namespace millrace::tracing

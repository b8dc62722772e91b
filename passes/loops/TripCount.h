// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TripCount.h - Compute the trip count of while loops ----------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <optional>

namespace millrace::loops {

/// A counted loop: the carried value `index` starts at `init`, grows by `step` per iteration, and the loop runs while `compare(index, limit)` holds.
struct CountedLoop {
  unsigned index;
  int64_t init, limit, step;
  int64_t tripCount;
};

/// Recognises `i = constant; while (i < constant) i = i + constant` (also <=, >, >=, != and the mirrored forms) on a
/// scalar integer. Empty for all other loops, and where the counter would overflow before the condition fails.
std::optional<CountedLoop> countedLoop(stablehlo::WhileOp loop);

} // namespace millrace::loops

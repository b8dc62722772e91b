// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResultMemory.h - Place temporaries in the memory of results --------===//
#pragma once

#include "lowering/program/MemoryPlan.h"

#include <optional>

namespace millrace::lowering {

/// The memory of a result, which is unused before step `until`.
struct ResultMemory {
  uint64_t bytes = 0;
  uint32_t until = 0;
};

/// The place of a temporary in the memory of a result.
struct PlaceInResult {
  uint32_t result = 0; ///< index into the list of results
  uint64_t offset = 0; ///< in bytes, a multiple of 64
};

/// Moves temporaries into the memory of results until the largest sum of live bytes of the others is at most `enough`, or no temporary that is live
/// at that step fits anywhere. A training step, for example, returns its gradients: activations of the forward pass are placed in their memory until
/// the backward pass writes them. `movable`: one per live range. Returns one place per live range, none for those that stay in the arena.
std::vector<std::optional<PlaceInResult>> placeInResults(const std::vector<Lifetime> &lifetimes, const std::vector<bool> &movable,
                                                         const std::vector<ResultMemory> &results, uint64_t enough);

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResultMemory.h - Temporaries in the memory of results --------------===//
#pragma once

#include "lowering/program/MemoryPlan.h"

#include <optional>

namespace millrace::lowering {

/// The memory of a result, which holds nothing before step `until`.
struct ResultMemory {
  uint64_t bytes = 0;
  uint32_t until = 0;
};

/// Where a temporary lies in the memory of a result.
struct PlaceInResult {
  uint32_t result = 0; ///< index into the list of results
  uint64_t offset = 0; ///< in bytes, a multiple of 64
};

/// Moves temporaries into the memory of results until the largest sum of live bytes of the others is at most `enough`, or nothing that is alive where
/// that sum is fits anywhere. A training step, for example, returns its gradients: the activations of the forward pass lie in their memory until the
/// backward pass writes them. `movable`: one per lifetime. Returns one place per lifetime, none for what stays in the arena.
std::vector<std::optional<PlaceInResult>> placeInResults(const std::vector<Lifetime> &lifetimes, const std::vector<bool> &movable,
                                                         const std::vector<ResultMemory> &results, uint64_t enough);

} // namespace millrace::lowering

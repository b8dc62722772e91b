// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredPlans.h - Store and find plans --------------------------------===//
// A plan is a list of choices for a problem, and equal problems have equal plans: the key is the content of the problem, not of the program.
#pragma once

#include "passes/autosharding/PlanStore.h"
#include "passes/autosharding/solver/Solve.h"

namespace millrace::autosharding {

/// Returns everything that the solver's result depends on: the problem, the options that do not limit time, and kSolverVersion.
PlanStore::Key planKey(const Problem &problem, const Options &options);

/// Returns the text of a solution that was found.
std::string writePlan(const Solution &solution);
/// Reads a solution if it is valid for `problem`: as many choices as nodes, all of them possible, within the limit of memory, and with the cost and
/// peak in the text. Returns nothing otherwise.
std::optional<Solution> readPlan(const Problem &problem, std::string_view text);

/// Returns the stored plan if it can be read; else calls solve(), and stores its result if it found a solution.
Solution solveStored(const Problem &problem, const Options &options, const PlanStore &store, bool *isStored = nullptr);

} // namespace millrace::autosharding

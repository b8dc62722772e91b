// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredPlans.h - Plans that were found before -----------------------===//
// A plan is a list of choices for a problem, and problems that are equal have equal plans: the key is the problem's content, not the program's.
#pragma once

#include "passes/autosharding/PlanStore.h"
#include "passes/autosharding/solver/Solve.h"

namespace millrace::autosharding {

/// What the answer of the solver depends on: the problem, the options that are not about time, and kSolverVersion.
PlanStore::Key planKey(const Problem &problem, const Options &options);

/// A solution that was found, as text.
std::string writePlan(const Solution &solution);
/// The solution in `text`, if it is one of `problem`: as many choices as nodes, all of them possible, within the limit of memory, and with the cost
/// and the peak that stand there. Nothing otherwise.
std::optional<Solution> readPlan(const Problem &problem, std::string_view text);

/// The plan that is stored, if it can be read; else solve(), whose answer is stored if it found one.
Solution solveStored(const Problem &problem, const Options &options, const PlanStore &store, bool *isStored = nullptr);

} // namespace millrace::autosharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanPage.h - A plan and its modelled step as one page --------------===//
#pragma once

#include "passes/autosharding/Simulation.h"

namespace millrace::autosharding {

/// A mesh that was planned for, and the seconds that were expected of it.
struct RankedMesh {
  std::string mesh;
  double seconds = 0;
};

/// Where the seconds of a modelled step go, the optimality gap, memory, and every tensor of the plan with its alternatives, for people.
void printPlan(const AutoShardingReport &planned, llvm::ArrayRef<RankedMesh> ranked, llvm::raw_ostream &os);

/// HTML in one file, without a network: where the time goes, the timeline of the step, memory over time, meshes (the best one first), tensors.
/// `simulation` has its steps; `planned` is null of a program whose shardings were not chosen automatically. `title` is the program's name.
std::string planPage(const Simulation &simulation, const AutoShardingReport *planned, llvm::ArrayRef<RankedMesh> ranked, const Machine &machine,
                     llvm::StringRef title);

} // namespace millrace::autosharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanPage.h - HTML page of a plan and its modelled step --------------===//
#pragma once

#include "passes/autosharding/Simulation.h"

namespace millrace::autosharding {

/// A mesh for which a plan was made, and the predicted seconds.
struct RankedMesh {
  std::string mesh;
  double seconds = 0;
};

/// Prints where the seconds of a modelled step go, the optimality gap, memory, and every tensor of the plan with its alternatives.
void printPlan(const AutoShardingReport &planned, llvm::ArrayRef<RankedMesh> ranked, llvm::raw_ostream &os);

/// Returns one HTML file, which needs no network: where the time goes, the timeline of the step, memory over time, meshes (the best one first),
/// tensors. `simulation` has its steps; `planned` is null for a program whose shardings were not chosen automatically. `title` is the program's name.
std::string planPage(const Simulation &simulation, const AutoShardingReport *planned, llvm::ArrayRef<RankedMesh> ranked, const Machine &machine,
                     llvm::StringRef title);

} // namespace millrace::autosharding

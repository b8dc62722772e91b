// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Choose.h - Choose the shardings of an imported module ---------------===//
#pragma once

#include "passes/autosharding/Simulation.h"

namespace millrace::autosharding {

/// What choose() knows of a module.
struct Choice {
  AutoShardingReport report;
  int64_t devices = 1;        ///< of the mesh
  bool isTooLarge = false;    ///< after a failure: no plan is within the limit of memory
  bool isUnannotated = false; ///< no annotation asks for a split value
  /// The report of the program in which nothing is split, and its simulated step: if isUnannotated, and they are the same with and without partitioning.
  std::optional<AutoShardingReport> whole;
  std::optional<Simulation> wholeStep;
};

/// Plans a module that has been imported for propagation, and writes down the shardings of all values. Candidate::Annotations keeps the annotations
/// only, in the axes of the mesh, and replicates arguments and results if `choice.isUnannotated` is set by the caller.
llvm::LogicalResult choose(mlir::ModuleOp module, const AutoShardingOptions &options, Choice &choice);

} // namespace millrace::autosharding

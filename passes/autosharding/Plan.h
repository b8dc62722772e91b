// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plan.h - A module, its problem, and a solution of it ----------------===//
#pragma once

#include "passes/autosharding/ProgramProblem.h"
#include "passes/autosharding/Rematerialize.h"
#include "passes/autosharding/solver/Solve.h"

#include "mlir/IR/OwningOpRef.h"

namespace millrace::autosharding {

/// Name of the mesh that the options ask for.
inline constexpr llvm::StringLiteral kOwnMesh = "auto";

/// Returns the mesh over which values are split: the mesh that the options name, or the module's largest mesh.
sdy::MeshOp meshOf(mlir::ModuleOp module);

/// A module that has been imported for propagation, the choices of its shardings, and a solution.
struct Plan {
  Plan(mlir::ModuleOp module, const AutoShardingOptions &options, sdy::MeshOp mesh);

  /// Builds the problem, without a limit of memory. Reports errors at the module.
  llvm::LogicalResult build(sdy::MeshOp mesh);
  std::string notLowered; ///< after build(): why AutoShardingOptions::memoryOf had no answer
  /// Solves the problem as it is now. `what`: a part of the text for AutoShardingOptions::progress.
  void solve(const AutoShardingOptions &options, llvm::StringRef what);

  MemoryOf memoryOf;
  sharding::ModuleGraph graph;
  CostModel costs;
  ProgramProblem program;
  Solution solution;
  bool isStored = false;              ///< the solution was found in AutoShardingOptions::plans
  Rematerialization rematerialization; ///< of the module, before the problem was built
};

/// Returns the limit of the bytes of values on a device, without what is reserved for copies of resharded values.
int64_t limitOf(const AutoShardingOptions &options);

/// Returns the faster of two plans within the limit: `plain`, solved again with the limit, and the plan of `copy`, which is set to a copy of the module
/// with rematerialized values. `plain` has the solution without a limit. The result has no solution if none was found; it is null after an error.
std::unique_ptr<Plan> planWithinMemory(std::unique_ptr<Plan> plain, const AutoShardingOptions &options, mlir::OwningOpRef<mlir::ModuleOp> &copy);

} // namespace millrace::autosharding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceFlags.h - Flags of meshes and automatic sharding -------------===//
#pragma once

#include "passes/autosharding/PlanPage.h"
#include "passes/autosharding/Request.h"
#include "tools/support/programs/CompileCached.h"
#include "tools/support/flags/Flags.h"

#include <optional>
#include <vector>

namespace millrace::tools {

/// The flags that determine the devices of a program, and how it is sharded over them.
struct DeviceFlags {
  std::string devices; ///< number of devices: the same as "auto:" and the number as mesh; empty if not given
  std::string mesh; ///< sizes of the mesh's axes, or "auto:N" for the mesh of N devices with the best plan; empty for the program's mesh
  autosharding::Request planning;
  bool simulate = false, explain = false; ///< xla-compile's
  std::string planMemory = "compiled";    ///< what a plan counts as memory: "compiled" or "values"
  std::string page;                       ///< xla-compile's file for the page about the plan and its modelled step

  /// Adds the flags; `reports` includes --simulate and --explain-sharding.
  void addTo(Flags &flags, bool reports);
  /// Sets the module's mesh. The error names the flag.
  llvm::Error applyMesh(mlir::ModuleOp module) const;
  /// Chooses shardings if that is requested, and prints their predicted cost. With "auto:N" it plans for every mesh of one or two axes and uses the
  /// best. Plans are looked up and stored in the cache. The error names the flag; errors of the program were reported to the diagnostic handlers.
  llvm::Expected<std::optional<autosharding::AutoShardingReport>> applyPlan(mlir::ModuleOp module, const CacheSettings &cache);
  /// Writes what --simulate, --explain-sharding and --sharding-page request. Returns the exit status, or nothing if none of them is set.
  std::optional<int> report(mlir::ModuleOp module, const std::optional<autosharding::AutoShardingReport> &planned, const std::string &input,
                            const std::string &output) const;

private:
  llvm::Error applyBestMesh(mlir::ModuleOp module, const autosharding::AutoShardingOptions &asked);
  llvm::Expected<autosharding::AutoShardingOptions> options() const;

  bool isAuto() const;
  std::string numberOfDevices() const; ///< if isAuto()

  std::vector<autosharding::RankedMesh> ranked; ///< meshes of "auto:N", the best one first
  std::string reasons;                          ///< with `explain`, those of propagation, if the program as annotated was taken
};

} // namespace millrace::tools

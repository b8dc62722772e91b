// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceFlags.h - --mesh, --auto-sharding and what goes with them ----===//
#pragma once

#include "passes/autosharding/PlanPage.h"
#include "passes/autosharding/Request.h"
#include "tools/support/programs/CompileCached.h"
#include "tools/support/flags/Flags.h"

#include <optional>
#include <vector>

namespace millrace::tools {

/// Over which devices a program is spread, and how.
struct DeviceFlags {
  std::string mesh; ///< sizes of the mesh's axes, or "auto:N": that of N devices with the best plan; empty: as the program says
  autosharding::Request planning;
  bool simulate = false, explain = false; ///< xla-compile's
  std::string page;                       ///< xla-compile's: where the page about the plan and its modelled step goes

  /// `reports`: --simulate and --explain-sharding, too.
  void addTo(Flags &flags, bool reports);
  /// Gives the module the mesh. The error names the flag.
  llvm::Error applyMesh(mlir::ModuleOp module) const;
  /// Chooses shardings if that is asked for; says what it expects of them then. With "auto:N" it plans for every mesh of one or two axes and takes
  /// the best. Plans are looked up and kept in the cache. The error names the flag; what is wrong with the program went to the diagnostic handlers.
  llvm::Expected<std::optional<autosharding::AutoShardingReport>> applyPlan(mlir::ModuleOp module, const CacheSettings &cache);
  /// Writes what --simulate, --explain-sharding and --sharding-page ask for. The exit status; none if they do not ask.
  std::optional<int> report(mlir::ModuleOp module, const std::optional<autosharding::AutoShardingReport> &planned, const std::string &input,
                            const std::string &output) const;

private:
  llvm::Error applyBestMesh(mlir::ModuleOp module, const autosharding::AutoShardingOptions &asked);
  llvm::Expected<autosharding::AutoShardingOptions> options() const;

  bool isAuto() const;

  std::vector<autosharding::RankedMesh> ranked; ///< meshes of "auto:N", the best one first
};

} // namespace millrace::tools

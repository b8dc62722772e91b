// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AutoSharding.h - Chooses the shardings of a program ----------------===//
#pragma once

#include "passes/autosharding/Machine.h"
#include "passes/autosharding/PlanStore.h"

#include "mlir/IR/BuiltinOps.h"

namespace millrace::autosharding {

struct AutoShardingOptions {
  std::string mesh; ///< "data=2,model=4" for a mesh of this program's own, in which what is annotated over others is said; empty: the module's
  Machine machine = Machine::virtualDevices();
  int64_t memoryPerDevice = 0; ///< bytes that values may take on a device; 0: any number
  int64_t iterations = 0;      ///< of the solver; 0: its default
  unsigned threads = 1;        ///< of the solver; any number finds the same plan
  bool explains = false;       ///< collect AutoShardingReport::tensors
  std::string problemFile;     ///< what is to be solved is written there, in the format of solver/ProblemReader.h; empty: nowhere
  PlanStore plans;             ///< where plans are looked up and kept
  std::function<void(const std::string &)> progress; ///< hears what the solver has found so far, in the calling thread; may be empty
};

/// Why a tensor is split as it is.
struct PlannedTensor {
  std::string name, line; ///< `argument 0 of @main "x" : tensor<8x8xf32>`, `file:line`
  std::string sharding;   ///< "[{"data"}, {}]"
  double seconds = 0;     ///< of the operation that decides it, its communication, and what its readers reshard
  int64_t bytes = 0;      ///< on a device
  /// Another way to split it. All else stays as planned, but for what has to be split alike (values of a loop, results in the place of arguments).
  struct Alternative {
    std::string sharding;
    double more = 0; ///< seconds that a step takes more than with the plan; infinite if that is impossible
  };
  std::vector<Alternative> alternatives; ///< the least costly first
};

/// What the plan is expected to take.
struct AutoShardingReport {
  double computing = 0, communicating = 0; ///< seconds per device
  double bytes = 0;                        ///< that come to a device from others
  int64_t peak = 0;                        ///< bytes that values take on a device at the worst time
  double bound = 0;                        ///< seconds that no choice of these strategies stays below
  double gap = 0;                          ///< share by which the plan may be above the best of these strategies
  size_t variables = 0, edges = 0;
  std::vector<PlannedTensor> tensors;      ///< if AutoShardingOptions::explains
  bool isStored = false; ///< the plan was found in AutoShardingOptions::plans
};

/// Gives every value of the module an explicit sharding; what is annotated stays. The module has a mesh and static shapes. Errors are reported at
/// the operation that cannot be planned, or at the module.
llvm::LogicalResult autoShard(mlir::ModuleOp module, const AutoShardingOptions &options, AutoShardingReport *report = nullptr);

} // namespace millrace::autosharding

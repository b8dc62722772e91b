// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardOver.h - Automatic sharding of a traced module -----------------===//
#pragma once

#include "passes/autosharding/AutoSharding.h"

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace millrace::tracing {

/// Chooses shardings; does nothing without a mesh or for a program of one device. Arguments of fewer than `smallest` elements without a sharding stay
/// replicated. XLA_AUTO_SPMD_MACHINE and XLA_AUTO_SPMD_MEMORY are the machine and the limit of the compiled program's memory. With `report` the plan is
/// only explained: all tensors are in the report, and the plan is not counted as a hit or a miss of the cache.
mlir::LogicalResult shardOver(mlir::ModuleOp module, const std::string &mesh, int64_t smallest, autosharding::AutoShardingReport *report = nullptr);

} // namespace millrace::tracing

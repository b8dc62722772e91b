// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shardings.h - Shardings as HLO writes them -------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::hlo {

/// Gives every argument, result and operation with an `sdy.sharding` the `mhlo.sharding` that says the same in HLO, unless
/// it has one, and turns sdy.sharding_constraint and sdy.reshard into `custom_call @Sharding`. Fails at a sharding whose
/// mesh is not there.
mlir::LogicalResult writeShardingsAsHlo(mlir::ModuleOp module);

} // namespace millrace::hlo

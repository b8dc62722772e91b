// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropShardings.h - Programs of one partition need no shardings ------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace millrace::lowering {

/// Removes what says how values are sharded from a module of one partition: where everything is in one place, sdy
/// operations pass their operands on, and the body of a manual computation is the computation. Fails with a diagnostic
/// where a manual computation was written for more than one device.
mlir::LogicalResult dropShardings(mlir::ModuleOp module);

} // namespace millrace::lowering

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OutlineReducers.h - Computations of collectives as kernels ---------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/program/Program.h"
#include "dialects/millrace/Attributes.h"

#include <memory>

namespace millrace::lowering {

/// The reduction of `collective` (all_reduce, reduce_scatter, collective_reduce) if the runtime has it, else None.
runtime::CollectiveStep::Reduction reductionOf(mlir::Operation *collective);

/// Gives every collective whose reduction the runtime does not have a kernel over CollectiveStep::kReducerElements
/// elements, named by kReducerAttr.
std::unique_ptr<mlir::Pass> createOutlineReducersPass();
void registerOutlineReducersPass();

} // namespace millrace::lowering

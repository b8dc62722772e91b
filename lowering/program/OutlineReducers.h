// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OutlineReducers.h - Outline reducers of collectives as kernels -----===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/program/Program.h"
#include "dialects/millrace/Attributes.h"

#include <memory>

namespace millrace::lowering {

/// Returns the reduction of `collective` (all_reduce, reduce_scatter, collective_reduce) if the runtime implements it, else None.
runtime::CollectiveStep::Reduction reductionOf(mlir::Operation *collective);

/// Creates, for every collective whose reduction the runtime does not implement, a kernel over CollectiveStep::kReducerElements elements, named by
/// kReducerAttr.
std::unique_ptr<mlir::Pass> createOutlineReducersPass();
void registerOutlineReducersPass();

} // namespace millrace::lowering

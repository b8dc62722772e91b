// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopStates.h - Which values lie in the memory of others ------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <optional>

namespace millrace::lowering {

/// What a value is an update in place of; null if it is made anew.
using UpdatedBy = llvm::function_ref<mlir::Value(mlir::Value)>;

/// Back from `value` by updates in `block`: an argument of `block`, or what comes from outside. Null if something is made anew.
mlir::Value firstVersion(mlir::Value value, mlir::Block *block, UpdatedBy updatedBy);

/// What every branch of an if or case updates in place, or returns as it is, to make `made`; null if a branch makes it anew.
mlir::Value updatedByBranches(mlir::OpResult made, UpdatedBy updatedBy);

/// For each value that `loop` carries: the other one whose memory it takes in every iteration, for its next value is that one, or made of it by
/// updates in place: `b, a = a, b.at[i].set(x)`. None where `isInPlace(argument of the body, next value)` fails, where two values would take one's
/// memory, or where the loop does not change the other one.
llvm::SmallVector<std::optional<unsigned>> takenStates(stablehlo::WhileOp loop, UpdatedBy updatedBy,
                                                       llvm::function_ref<bool(mlir::BlockArgument, mlir::Value)> isInPlace);

} // namespace millrace::lowering

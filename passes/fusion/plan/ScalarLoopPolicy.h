// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarLoopPolicy.h - Loops that can be one kernel ------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

namespace millrace::fusion {

/// Values of up to this many elements live in registers: every element is a scalar of its own. Unit: elements. Source: judgement, not measured alone;
/// commit 4b4b198 has the figures of the whole change.
inline constexpr int64_t kMaxScalars = 16;

/// Returns true for a tensor of at most kMaxScalars elements, which become scalars.
bool isFewScalars(mlir::Type type);

/// Returns true if the loop can be computed with scalars: its results have few elements, and it reads and updates larger tensors, which it carries or
/// captures, in place and a few elements at a time. Such a loop is one kernel (lowering/linalg/scalar/ScalarLoop.cpp); others are steps of the runtime.
bool isScalarLoop(stablehlo::WhileOp loop);

} // namespace millrace::fusion

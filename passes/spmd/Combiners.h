// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiners.h - Computations whose summands may be combined in parts -===//
#pragma once

#include "dialects/stablehlo/Ops.h"

namespace millrace::spmd {

/// The value that `combine` leaves the other operand alone with; null for element types without one here.
mlir::DenseElementsAttr neutralElement(mlir::Operation *combine, mlir::RankedTensorType type);

/// The initial value changes nothing.
bool isNeutral(mlir::Value init, mlir::Operation *combine);

/// The one operation of a computation of two values that devices may do in any order and in parts, each from its neutral
/// element; null if that is not known to be right.
mlir::Operation *combinerOf(mlir::Region &computation);

/// The same for a reduction of one value, or a scatter of one.
mlir::Operation *combinerOf(stablehlo::ReduceOp reduce);
mlir::Operation *combinerOf(stablehlo::ScatterOp scatter);

} // namespace millrace::spmd

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArrayUpdates.h - Recognize in-place updates of arrays --------------===//
#pragma once

#include "mlir/IR/Value.h"

namespace millrace::loops {

/// Returns the array of which `value` is an updated version that can share its memory: the operand of dynamic_update_slice or scatter, the initial
/// value of a while loop whose body updates it, the array that all branches of an if or case update or return. Null for other values.
mlir::Value updatedValue(mlir::Value value);

/// Follows updates in `block` back from `value` to the first version, which is an argument of `block` or defined outside. Null if an operation of
/// `block` computes a version from scratch.
mlir::Value firstVersion(mlir::Value value, mlir::Block *block);

/// Returns true if `op` computes an updated version of `array`.
bool updates(mlir::Operation *op, mlir::Value array);

} // namespace millrace::loops

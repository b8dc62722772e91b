// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArrayUpdates.h - Which values are new versions of others -----------===//
#pragma once

#include "mlir/IR/Value.h"

namespace millrace::loops {

/// The array of which `value` is a new version, made by an update that can happen in its memory: the operand of dynamic_update_slice or scatter,
/// the initial value of a while loop whose body updates it, what all branches of an if or case update or return. Null for other values.
mlir::Value updatedValue(mlir::Value value);

/// Back from `value` by updates in `block`: the first version, which is an argument of `block` or comes from outside. Null if something in `block`
/// makes a version anew.
mlir::Value firstVersion(mlir::Value value, mlir::Block *block);

/// `op` makes a new version of `array`.
bool updates(mlir::Operation *op, mlir::Value array);

} // namespace millrace::loops

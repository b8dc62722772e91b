// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiners.h - Recognize associative combiners -------------------------===//
#pragma once
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace millrace::fusion {

/// The number e with combine(e, x) = x for every x; null if there is none, or if parts would be rounded.
mlir::TypedAttr neutralNumber(mlir::Operation &combine, mlir::Type type);

/// The one operation of a body, of both its arguments; null if there is more to it.
mlir::Operation *combinerOf(mlir::Region &body);

/// One number for every element: a constant, or a scalar's broadcast.
bool isOneNumber(mlir::Value value);

} // namespace millrace::fusion

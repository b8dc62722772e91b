// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiners.h - Recognize associative combiners -------------------------===//
#pragma once
#include "dialects/stablehlo/Combiner.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace millrace::fusion {

/// The number e with combine(e, x) = x for every x; null if there is none, or if parts would be rounded.
mlir::TypedAttr neutralNumber(mlir::Operation &combine, mlir::Type type);

/// One number for every element: a constant, or a scalar's broadcast.
bool isOneNumber(mlir::Value value);

} // namespace millrace::fusion

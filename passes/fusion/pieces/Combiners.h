// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiners.h - Neutral elements of combiners ---------------------------===//
#pragma once
#include "dialects/stablehlo/Combiner.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace millrace::fusion {

/// Returns the neutral element of `combine`: combine(e, x) = x for every x. Null if there is none, or if intermediate results would be rounded.
mlir::TypedAttr neutralElement(mlir::Operation &combine, mlir::Type type);

/// Returns true for a splat constant and for a broadcast of a scalar.
bool isSplat(mlir::Value value);
/// Returns such a value in the shape of `type`, without a copy of elements. Null if `value` is no splat.
mlir::Value splatInShape(mlir::OpBuilder &b, mlir::Value value, mlir::RankedTensorType type);

} // namespace millrace::fusion

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorTypes.h - Types of values that are known to be tensors -------===//
#pragma once
#include "mlir/IR/BuiltinTypes.h"

namespace millrace::stablehlo {

/// Returns the type of `value`, which must be a ranked tensor, like every operand and result of the dialect except tokens and tuples.
inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }

} // namespace millrace::stablehlo

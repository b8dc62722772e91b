// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.h - Recognize elementwise operations --------------------===//
#pragma once

#include "mlir/IR/Operation.h"

namespace millrace::stablehlo {

/// Returns true if an element of a result depends only on the elements at the same position of operands of the same shape, and on scalar operands.
/// MLIR's trait is missing from select and clamp, whose operands may be scalars, and from bitcast_convert, which may change the shape.
bool isElementwise(mlir::Operation *op);

} // namespace millrace::stablehlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.h - Operations that keep positions ----------------------===//
#pragma once

#include "mlir/IR/Operation.h"

namespace millrace::stablehlo {

/// An element of a result depends only on the elements at its position of the operands of the same shape, and on scalar operands. MLIR's trait
/// does not say so of select and clamp, whose operands may be scalars, and of bitcast_convert, which may change the shape.
bool isElementwise(mlir::Operation *op);

} // namespace millrace::stablehlo

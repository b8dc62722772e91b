// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiner.h - Recognize regions of one operation ---------------------===//
#pragma once

#include "mlir/IR/Region.h"

namespace millrace::stablehlo {

/// Returns the one operation of the region of a reduction, a scatter or a collective, of both arguments in either order, whose result the region
/// returns; null if there is more to it.
mlir::Operation *combinerOf(mlir::Region &region);

} // namespace millrace::stablehlo

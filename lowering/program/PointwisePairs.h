// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointwisePairs.h - Find results that may overwrite an operand ------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <utility>
#include <vector>

namespace millrace::lowering {

/// Returns {operand, result} of `kernel` such that element i of the operand is read for elements i of results only, that result among them, which has
/// the same type. Code that handles one element or vector at a time may then use one buffer for both: the store depends on the load, so it comes
/// later in whatever order elements are visited.
std::vector<std::pair<unsigned, unsigned>> pointwisePairs(mlir::func::FuncOp kernel);

} // namespace millrace::lowering
